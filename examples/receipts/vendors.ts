/** The register of vendors: of this example's fictional shops, those that the firm has dealt with before. */
const VENDORS: Readonly<Record<string, string>> = {
  "Blue Heron Stationery Sdn Bhd": "V-1001",
  "Lantern Street Coffee": "V-1002",
  "Ironwood Hardware Trading": "V-1003",
  "Meridian Fuel Station Sdn Bhd": "V-1004",
  "Paper Moon Books Sdn Bhd": "V-1005",
  "Northlight Computers Sdn Bhd": "V-1006",
  "Harbour View Hotel Sdn Bhd": "V-1007",
  "Tall Pines Office Supplies Sdn Bhd": "V-1008",
  "Oak & Anchor Furniture Sdn Bhd": "V-1009",
  "Granite Fork Wholesale Sdn Bhd": "V-1010",
  "Toko Buku Merpati": "V-1011",
  蓝鹭文具有限公司: "V-1012",
};

const byKey = new Map(Object.entries(VENDORS).map(([name, id]) => [keyOf(name), id]));

/** The number of a registered vendor, found by the letters and digits of its name; null if there is none. */
export function vendorId(company: string): string | null {
  return byKey.get(keyOf(company)) ?? null;
}

function keyOf(name: string): string {
  return name
    .normalize("NFKC")
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
}
