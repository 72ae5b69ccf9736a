import { findAddress, isAddressLine } from "./address.js";
import { currencyOf, decimalSign } from "./amount.js";
import { findCompany } from "./company.js";
import { findDate } from "./date.js";
import { receiptLines } from "./lines.js";
import { findTotal } from "./total.js";

/** What rules can read off one receipt; null where it doesn't say. */
export interface Receipt {
  company: string | null;
  /** YYYY-MM-DD. */
  date: string | null;
  address: string | null;
  /** What was paid, in the receipt's currency. */
  total: number | null;
  /** ISO 4217, where the receipt names a currency. */
  currency: string | null;
}

/** Reads one receipt's text. Linear in its length; it knows how receipts are laid out, and no shop by name. */
export function extractReceipt(text: string): Receipt {
  const { all, header } = receiptLines(text);
  const company = findCompany(header, isAddressLine);
  return {
    company: company?.name ?? null,
    date: findDate(all),
    address: findAddress(header, company?.next ?? 0),
    total: findTotal(all, decimalSign(all)),
    currency: currencyOf(all),
  };
}
