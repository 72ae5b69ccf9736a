import fc from "fast-check";

const digits = (count: number) => fc.stringMatching(new RegExp(`^\\d{${count}}$`));

/** Digits that begin with a prefix and end in Luhn's check digit. */
function card(prefix: string, length: number): fc.Arbitrary<string> {
  return digits(length - 1 - prefix.length).map((middle) => {
    const payload = prefix + middle;
    let sum = 0;
    for (let i = payload.length - 1, double = true; i >= 0; i--, double = !double) {
      const digit = Number(payload[i]);
      sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
    }
    return payload + ((10 - (sum % 10)) % 10);
  });
}

function grouped(number: string, sizes: readonly number[], separator: string): string {
  const ends = sizes.map((_, i) => sizes.slice(0, i + 1).reduce((sum, size) => sum + size, 0));
  return ends.map((end, i) => number.slice(ends[i - 1] ?? 0, end)).join(separator);
}

const FOURS = [4, 4, 4, 4];
const separator = fc.constantFrom(" ", "-", "");
const sixteen = fc.constantFrom(
  "4",
  "51",
  "55",
  "2221",
  "2720",
  "6011",
  "65",
  "3530",
  "62",
  "2200",
  "508500",
);

/** A card as people write it: the number, and a line of text that holds it. */
export const plantedCard = fc
  .oneof(
    fc
      .tuple(
        sixteen.chain((prefix) => card(prefix, 16)),
        separator,
      )
      .map(([number, s]) => grouped(number, FOURS, s)),
    fc
      .tuple(
        fc.constantFrom("34", "37").chain((prefix) => card(prefix, 15)),
        separator,
      )
      .map(([n, s]) => grouped(n, [4, 6, 5], s)),
    card("36", 14).map((number) => grouped(number, [4, 6, 4], " ")),
    card("4", 19).map((number) => grouped(number, [4, 4, 4, 4, 3], " ")),
    card("4", 13).map((number) => `CARD ${number}`),
    card("6304", 17).map((number) => `kartu: ${number}`),
  )
  .chain((number) =>
    fc.constantFrom(
      number,
      `CARD NO: ${number}`,
      `Pay with ${number}, please.`,
      `"card":"${number}"`,
      `VISA ${number} 12/27`,
      `(${number})`,
    ),
  );

const local = fc
  .constantFrom("03-", "07-", "03 - ", "(03) ", "04-")
  .chain((area) => digits(7).map((rest) => `${area}2${rest}`));
const mobile = fc
  .tuple(fc.constantFrom("012", "016", "019", "017"), digits(7))
  .map(([network, rest]) => `${network}-${rest}`);
const spacedMobile = fc.tuple(digits(3), digits(4)).map(([a, b]) => `012-${a} ${b}`);
const indonesian = fc
  .tuple(digits(2), digits(4), digits(4))
  .map(([a, b, c]) => `08${a.replaceAll("0", "1")}-${b}-${c}`);
const international = fc.oneof(
  fc.tuple(digits(3), digits(4)).map(([a, b]) => `+60 12-${a} ${b}`),
  digits(10).map((rest) => `+628${rest}`),
  fc.tuple(digits(2), digits(4)).map(([a, b]) => `+1 415 5${a} ${b}`),
  digits(4).map((rest) => `+44 20 7946 ${rest}`),
  digits(4).map((rest) => `(+603) 7831 ${rest}`),
);
const american = digits(4).map((rest) => `(415) 555-${rest}`);
const phone = fc.oneof(local, mobile, spacedMobile, indonesian, international, american);
const bare = fc.oneof(
  digits(8).map((rest) => `01${rest}`),
  digits(7).map((rest) => `6${rest}`),
  digits(10).map((rest) => `60${rest}`),
);
const label = fc.constantFrom(
  "TEL: ",
  "TEL NO. ",
  "FAX:",
  "H/P: ",
  "PHONE ",
  "WHATSAPP : ",
  "Hotline: ",
  "telp. ",
  "mobile no: ",
);

/** A phone number as people write it, alone where its grouping says what it is, else behind a word. */
export const plantedPhone = fc.oneof(
  phone,
  fc.tuple(label, fc.oneof(phone, bare)).map(([word, number]) => word + number),
  phone.map((number) => `please ring ${number} after six`),
);
