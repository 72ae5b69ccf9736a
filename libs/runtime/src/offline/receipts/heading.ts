/** What the lines above the goods hold besides name and address. */
const CONTACT =
  /\b(?:TEL|TELEPHONE|TELP|TEL\.?NO|PHONE|FAX|HP|H\/P|MOBILE|E-?MAIL|WHATSAPPS?|HOTLINE|OUTLET|\w*CAREL\w+|WWW|HTTPS?)\b|WWW\.|@\w+\.|^[TF]\s?:|电话|電話|传真/i;
const NUMBERS_OF_THE_FIRM =
  /\b(?:GST|SST|NPWP|ROC|VAT|BRN|REG(?:N|ISTRATION)?|CO\.?\s*(?:REG|NO)|COMPANY\s*(?:REG|NO)|BUSINESS\s*REG|LICENSE|LICENCE|SITE)\b.*\d|\bGST\b|税号/i;
const PAPERWORK =
  /\b(?:(?:TAX)?INVOICE|GUEST\s*CHECK|CARRY\s*OUT|PAY\s*BY|CHIT|POSTED|SIGNATURE|INV|RECEIPT|RESIT|KWITANSI|STRUK|BILL|CASH\s*SALES?|CASHIER|KASIR|DATE|TANGGAL|TIME|TABLE\s*(?:NO\b|[#:\d])|DELIVERY\s*NOTE|ORDER|DOC(?:UMENT)?|TRANS(?:ACTION)?|SALES\s*PERSON|SALESMAN|SERVER|SERVED|WAITER|TERMINAL|COUNTER|STATION\s*:|POS|SLIP|MEMBER|CUSTOMER|QTY|ITEM|DESCRIPTION|PRICE|AMOUNT|TOTAL|COVER|PAX|REPRINT|DUPLICATE|COPY|OWNED\s*BY|BILL\s*TO|TICKET|WELCOME|THANK|PLEASE|STAFF|OPERATOR|SHIFT)\b|发票|收据|小票|日期|单号/i;
const REGISTRATION = /^\W*(?:NO\W*)?(?:[A-Z]{0,3}\d{5,}\s*[-–]?\s*[A-Z0-9]{0,2})\W*$/i;
/** What a PII rule left of a telephone number or a card: stars and last digits, a word in brackets or a hash. */
const MASKED = /\*{3,}[\s*-]*\d{2,4}|\[REDACTED_\w+\]|<\w+_hash:\w+>/i;
const PHONE_NUMBER = /^\W*(?:\+?\d{1,3}[\s-]?)?\(?\d{2,4}\)?[\s-]\d{3,4}[\s-]?\d{3,5}(?:\s*[/&,].*)?$/;
const DAY = /\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d{2}/;

export function isRegistration(line: string): boolean {
  return (
    REGISTRATION.test(line) ||
    (/^\W*(?:CO|COMPANY|ROC|REG|NO)\b.*\d{4,}.*$/i.test(line) && !/\bJALAN|JLN|LOT\b/i.test(line))
  );
}

/** True for a line that ends an address: a telephone, a tax number, a heading of the paper itself, a date. */
export function endsAddress(line: string): boolean {
  return (
    CONTACT.test(line) ||
    NUMBERS_OF_THE_FIRM.test(line) ||
    PAPERWORK.test(line) ||
    PHONE_NUMBER.test(line) ||
    MASKED.test(line) ||
    DAY.test(line)
  );
}

/** True for a line that can't be the firm's name. */
export function isNoName(line: string): boolean {
  return !hasLetters(line) || endsAddress(line) || isRegistration(line);
}

/** A name without the firm's registration number after it. */
export function withoutRegistration(line: string): string {
  return line
    .replace(
      /[([]?\s*(?:CO\.?\s*)?(?:REG\.?|ROC|NO\.?)?\s*:?\s*\b[A-Z]{0,2}\d{5,}\s*[-–]?\s*[A-Z]{0,2}\b\s*[)\]]?\W*$/i,
      "",
    )
    .replace(/\(\s*$/, "")
    .trim();
}

/** A name has three letters, or one Chinese character. */
function hasLetters(line: string): boolean {
  return (line.match(/\p{L}/gu)?.length ?? 0) >= 3 || /\p{Script=Han}/u.test(line);
}
