/** Words that announce a phone number, in the languages and abbreviations of invoices, and with usual misreadings. */
export const PHONE_WORDS =
  /(?:(?<![a-z])(?:tel|tei|telp|telephone|telefon|telepon|telpon|ph|fax|faks|hp(?![0-9])|h\/p|hand\s?phone|mobile|mob|cell|cellphone|whats\s?apps?|wa|sms|call|contact|ponsel|enquir(?:y|ies)|inquir(?:y|ies)|inquries)|phone|hot\s?line|care\s?l[il]ne|\u7535\u8bdd|\u624b\u673a|\u4f20\u771f)(?![a-z])/gi;

/** What may stand between such a word and the number. */
export const PHONE_FILLER =
  /^[\s"'\\:;.,=*&|/)(#x-]*(?:(?:no|nos|num|number|nomor|line|us|at|on|is|my|or|me|x)(?![a-z])[\s"'\\:;.,=*&|/)(#-]*){0,3}$/i;

/** Words that announce another number, so that its grouping says nothing. */
export const OTHER_WORDS =
  /(?<![a-z])(?:ref|reference|inv|invoice|taxinv|receipt|rcpt|bill|order|ord|barcode|ean|upc|sku|gst|gstin|tax|vat|npwp|reg|registration|tracking|serial|s\/n|batch|doc|document|transaction|trans|trx|txn|slip|item|code|date|roc)(?![a-z])/gi;
export const OTHER_FILLER = /^[ \t"':.#()/=-]*(?:(?:no|num|number|id|code|nbr)[ \t"':.#()=-]*){0,2}$/i;
