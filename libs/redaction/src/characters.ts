/** Character tests by code unit: detectors walk megabytes, and a regular expression per character is too slow. */

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isAsciiLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

export function isHex(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}

/** A letter, digit or underscore of ASCII: what `\w` means. */
export function isWord(code: number): boolean {
  return isDigit(code) || isAsciiLetter(code) || code === 95;
}

/** Letters of alphabets written with spaces: Latin with accents, Greek, Cyrillic. Chinese runs on without any. */
export function isAccentedLetter(code: number): boolean {
  return code >= 0xc0 && code <= 0x52f && code !== 0xd7 && code !== 0xf7;
}

/**
 * How many code units before `at` belong to an escape sequence of JSON (`\n`, `\t`, `\u00e9`), whose letter is
 * not part of the word that follows. 0 where there is none.
 */
export function escapeLengthBefore(text: string, at: number): number {
  if (at >= 2 && text.charCodeAt(at - 2) === 92 && "nrtbf".includes(text.charAt(at - 1))) return 2;
  if (at < 6 || text.charCodeAt(at - 6) !== 92 || text.charAt(at - 5) !== "u") return 0;
  for (let i = at - 4; i < at; i++) if (!isHex(text.charCodeAt(i))) return 0;
  return 6;
}

/** True where a word character stands right before `at`, so that a match may not begin there. */
export function wordEndsAt(text: string, at: number): boolean {
  return at > 0 && isWord(text.charCodeAt(at - 1)) && escapeLengthBefore(text, at) === 0;
}

/** True where a word character stands at `at`, so that a match may not end there. */
export function wordBeginsAt(text: string, at: number): boolean {
  return at < text.length && isWord(text.charCodeAt(at));
}

const FULL_WIDTH = /[\uff0b\uff0d\uff0e\uff10-\uff1a\uff20-\uff3a\uff41-\uff5a\u0660-\u0669\u06f0-\u06f9]/;

/**
 * The text with full-width letters and digits and Arabic-Indic digits written in ASCII, of the same length, so that
 * positions stay: `４１１１` begins a card number too.
 */
export function foldWidth(text: string): string {
  if (text.search(FULL_WIDTH) < 0) return text;
  const codes = new Uint16Array(text.length);
  let all = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const plain = code < FIRST_FOLDED ? code : folded(code);
    codes[i] = plain;
    all |= plain;
  }
  // A text of one byte a character is read twice as fast by all that comes after.
  return all < 256 ? Buffer.from(codes).toString("latin1") : new TextDecoder("utf-16le").decode(codes);
}

/** The Arabic-Indic zero. */
const FIRST_FOLDED = 0x660;

function folded(code: number): number {
  if (code >= 0xff0b && code <= 0xff5a) return isFullWidthPunctuation(code) ? code : code - 0xfee0;
  if (code >= 0x660 && code <= 0x669) return code - 0x660 + 48;
  return code >= 0x6f0 && code <= 0x6f9 ? code - 0x6f0 + 48 : code;
}

/** Commas, brackets and question marks of Chinese text end a URL or an address; they stay what they are. */
function isFullWidthPunctuation(code: number): boolean {
  return (
    code === 0xff0c ||
    code === 0xff0f ||
    (code >= 0xff1b && code <= 0xff1f) ||
    (code >= 0xff3b && code <= 0xff40)
  );
}
