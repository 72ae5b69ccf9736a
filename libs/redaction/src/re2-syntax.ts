/** JavaScript's whitespace, which is more than RE2's `\s`: a non-breaking space must not open a gap. */
const SPACE = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const NOT_SPACE = String.raw`\x00-\x08\x0e-\x1f!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
const SAME_IN_BOTH = "dDwWtnvfr";

/**
 * A JavaScript pattern in RE2's syntax, matching the same; its groups capture nothing. Throws an Error that says what has no counterpart. The
 * pattern has been read by `new RegExp` before, so that its brackets close.
 */
export function patternForRe2(source: string, flags: string): string {
  let out = "";
  let inClass = false;
  for (let i = 0; i < source.length; ) {
    const [taken, written] =
      source.charAt(i) === "\\" ? escaped(source, i, inClass) : plain(source, i, inClass, flags);
    if (!inClass && source.charAt(i) === "[" && taken < 3) inClass = true;
    else if (inClass && source.charAt(i) === "]") inClass = false;
    out += written;
    i += taken;
  }
  return out;
}

/** How many characters were read, and what RE2 gets for them. */
type Piece = readonly [taken: number, written: string];

function plain(source: string, i: number, inClass: boolean, flags: string): Piece {
  const char = source.charAt(i);
  if (inClass) return [1, char === "[" ? "\\[" : char];
  if (char === ".") return [1, flags.includes("s") ? "." : String.raw`[^\n\r\x{2028}\x{2029}]`];
  if (source.startsWith("[^]", i)) return [3, String.raw`[\x00-\x{10ffff}]`];
  if (source.startsWith("[]", i)) throw new Error("the empty class [] matches nothing");
  if (source.startsWith("[^", i)) return [2, "[^"];
  if (source.startsWith("(?=", i) || source.startsWith("(?!", i)) throw new Error("lookahead");
  const named = /^\(\?<[\p{ID_Start}$_][\p{ID_Continue}$]*>/u.exec(source.slice(i, i + 80));
  if (named) return [named[0].length, "(?:"];
  if (char === "(" && source.charAt(i + 1) !== "?") return [1, "(?:"];
  return [1, char];
}

function escaped(source: string, i: number, inClass: boolean): Piece {
  const char = source.charAt(i + 1);
  if (SAME_IN_BOTH.includes(char)) return [2, `\\${char}`];
  if (char === "s") return [2, inClass ? SPACE : `[${SPACE}]`];
  if (char === "S") return [2, inClass ? NOT_SPACE : `[^${SPACE}]`];
  if (char === "b" && inClass) return [2, "\\x08"];
  if (char === "b" || char === "B") return [2, `\\${char}`];
  const code =
    /^\\(?:x([0-9a-f]{2})|u\{([0-9a-f]{1,6})\}|u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4}))/i.exec(
      source.slice(i, i + 12),
    );
  if (code) return [code[0].length, `\\x{${codePoint(code)}}`];
  const control = /^\\c([a-z])/i.exec(source.slice(i, i + 3));
  if (control) return [3, `\\x{${((control[1] ?? "").charCodeAt(0) % 32).toString(16)}}`];
  const property = /^\\([pP])\{(?:(?:Script|sc|Script_Extensions|scx|General_Category|gc)=)?(\w+)\}/.exec(
    source.slice(i, i + 80),
  );
  if (property) return [property[0].length, `\\${property[1]}{${property[2]}}`];
  if (char === "0" && !/\d/.test(source.charAt(i + 2))) return [2, "\\x00"];
  if (/\d|k/.test(char)) throw new Error(`the backreference \\${char}`);
  if (/[a-z]/i.test(char)) throw new Error(`the escape \\${char}`);
  return [2, /[\x21-\x7e]/.test(char) ? `\\${char}` : char];
}

function codePoint([, byte, braced, high, low, unit]: RegExpExecArray): string {
  if (high === undefined || low === undefined) return byte ?? braced ?? unit ?? "";
  return (
    (Number.parseInt(high, 16) - 0xd800) * 0x400 +
    Number.parseInt(low, 16) -
    0xdc00 +
    0x10000
  ).toString(16);
}
