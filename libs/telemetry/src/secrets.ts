/** What stands where a secret stood. */
export const HIDDEN = "[secret]";

/** A field of one of these names holds a secret, whatever its value looks like. Counts (`tokens`) are not meant. */
const SECRET_NAME =
  /authorization|cookie|api[-_]?key|secret|passw|passphrase|credential|private[-_]?key|signature|token$/i;

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

interface Form {
  /** A cheap test: a text that does not match it does not hold the form. */
  hint: RegExp;
  form: RegExp;
  replacement: string;
}

/**
 * Forms by which secrets are known. Every quantifier is bounded, so that no text makes one of them slow.
 * A URL's user part reaches to the last `@` before a space or quote: a password may hold `@`, `/` or `#` unescaped.
 */
const FORMS: readonly Form[] = [
  {
    hint: /-----BEGIN/,
    form: /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)[\s\S]{0,16384}?(?:-----END [A-Z ]{0,30}-----|$)/g,
    replacement: `$1${HIDDEN}`,
  },
  {
    hint: /:\/\//,
    form: /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'<>]{0,1024}@/gi,
    replacement: `$1${HIDDEN}@`,
  },
  {
    hint: /authorization/,
    form: /\b((?:proxy-)?authorization["']?\s{0,3}[:=]\s{0,3}["']?)(?:[a-z][a-z0-9-]{0,20}\s{1,3})?[^\s"',}]{1,4096}/gi,
    replacement: `$1${HIDDEN}`,
  },
  {
    hint: /cookie/,
    form: /\b((?:set-)?cookie["']?\s{0,3}[:=]\s{0,3}["']?)[^\n"'}]{1,4096}/gi,
    replacement: `$1${HIDDEN}`,
  },
  {
    hint: /bearer|basic/,
    form: /\b(bearer|basic)\s{1,3}[A-Za-z0-9._~+/=-]{8,4096}/gi,
    replacement: `$1 ${HIDDEN}`,
  },
  {
    hint: /key|secret|passw|passphrase|credential|token/,
    form: /((?:api[-_ ]?key|secret(?:[-_]?key)?|passw(?:or)?d|passphrase|credential|token)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;&}]{1,4096}/gi,
    replacement: `$1${HIDDEN}`,
  },
  { hint: /[spr]k[-_]/, form: /\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,256}/g, replacement: HIDDEN },
  {
    hint: /gsk_|hf_|xai-|pplx-|lsv2_|whsec_|gh[a-z]_|github_pat_|xox[a-z]-/,
    form: /\b(?:gsk_|hf_|xai-|pplx-|lsv2_|whsec_|gh[a-z]_|github_pat_|xox[a-z]-)[A-Za-z0-9_-]{12,256}/g,
    replacement: HIDDEN,
  },
  { hint: /AIza/, form: /\bAIza[A-Za-z0-9_-]{30,60}/g, replacement: HIDDEN },
  { hint: /AKIA|ASIA/, form: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, replacement: HIDDEN },
  {
    hint: /eyJ/,
    form: /\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{0,1024}/g,
    replacement: HIDDEN,
  },
];
/** Most texts hold no secret: one test instead of eleven. */
const ANY_HINT = new RegExp(FORMS.map(({ hint }) => hint.source).join("|"), "i");

/** Below this length a known secret is not searched for: it would hide half of every line. */
const SHORTEST_KNOWN = 6;

/**
 * The text without what looks like a secret: passwords in URLs, Authorization and Cookie headers, `key=value` pairs
 * of secret names, the key forms of well-known providers, private keys, JSON web tokens. `known` are exact values
 * that this process holds (its model keys, Redis's password); values shorter than 6 characters are not searched for.
 */
export function hideSecrets(text: string, known: readonly string[] = []): string {
  let clean = text;
  for (const secret of known) {
    if (secret.length < SHORTEST_KNOWN) continue;
    clean = clean.replaceAll(secret, HIDDEN).replaceAll(encodeURIComponent(secret.toWellFormed()), HIDDEN);
  }
  if (!ANY_HINT.test(clean)) return clean;
  for (const { form, replacement } of FORMS) clean = clean.replace(form, replacement);
  return clean;
}
