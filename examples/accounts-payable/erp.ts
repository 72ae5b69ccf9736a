/** What a real ERP would hold. All of it is fictional. */
export const INVOICES: Readonly<Record<string, { vendor: string; amount: number; currency: string }>> = {
  "INV-1001": { vendor: "V-77", amount: 12_000_000, currency: "IDR" },
  "INV-1002": { vendor: "V-78", amount: 75_000_000, currency: "IDR" },
  "INV-1003": { vendor: "V-79", amount: 4_000, currency: "USD" },
};

export const VENDORS = [
  { id: "V-77", name: "PT Angkutan Contoh", contact: "penagihan@angkutan.example" },
  { id: "V-78", name: "CV Kertas Contoh", contact: "sales@kertas.example" },
  { id: "V-79", name: "Sample Software Ltd", contact: "billing@software.example" },
] as const;

/** Rupiah for one unit. */
export const RATES: Readonly<Record<string, number>> = { IDR: 1, USD: 16_400, SGD: 12_700 };
