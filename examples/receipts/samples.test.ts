import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type DocumentRef, expandInputs, readDocument } from "@drover/documents";
import { OfflineChatModel } from "@drover/runtime";
import { beforeAll, describe, expect, it } from "vitest";

const folder = fileURLToPath(new URL("./documents", import.meta.url));
const model = new OfflineChatModel({ rules: "receipts" });

/** What each sample holds: company, day, total. */
const HOLDS: Record<string, [string, string, number | null]> = {
  "01-stationery.txt": ["BLUE HERON STATIONERY SDN BHD", "2026-02-03", 42.8],
  "02-coffee.txt": ["LANTERN STREET COFFEE", "2026-02-14", 48.95],
  "03-hardware.txt": ["IRONWOOD HARDWARE TRADING", "2026-02-17", 60.4],
  "04-petrol.txt": ["MERIDIAN FUEL STATION SDN BHD", "2026-02-21", 64],
  "05-bookshop.md": ["Paper Moon Books Sdn Bhd", "2026-02-22", 134.01],
  "06-laptop.md": ["Northlight Computers Sdn Bhd", "2026-02-24", 3499],
  "07-taxi.md": ["Kingfisher Cabs Enterprise", "2026-02-26", 79.6],
  "08-hotel.html": ["Harbour View Hotel Sdn. Bhd.", "2026-02-28", 1284],
  "09-webshop.html": ["Copper Kettle Kitchenware Ltd", "2026-03-01", 228.5],
  "10-software.html": ["Quiet Fox Software Inc", "2026-03-03", 49],
  "11-office-supplies.csv": ["Tall Pines Office Supplies Sdn Bhd", "2026-03-05", 235.5],
  "12-catering.csv": ["Banyan Table Catering", "2026-03-07", 318],
  "13-parking.csv": ["Central Quay Parking Sdn Bhd", "2026-03-09", 7.5],
  "14-furniture.pdf": ["OAK & ANCHOR FURNITURE SDN BHD", "2026-03-10", 2150],
  "15-clinic.pdf": ["KLINIK SERI DAMAI", "2026-03-11", 83],
  "16-printing.pdf": ["Clearwater Digital Print Enterprise", "2026-03-12", 215],
  "19-wholesale.txt": ["GRANITE FORK WHOLESALE SDN BHD", "2026-03-18", 465],
  "20-wenju.txt": ["蓝鹭文具有限公司", "2026-03-11", 128],
  "21-warung.txt": ["TOKO BUKU MERPATI", "2026-03-12", 185_000],
  "22-instructions.txt": ["SPARROW LANE PRINT SHOP", "2026-03-13", 97.5],
  "23-no-total.txt": ["CEDAR GROVE GARDEN CENTRE", "2026-03-15", null],
  "24-pharmacy.txt": ["WILLOW PHARMACY SDN BHD", "2026-03-16", 40.3],
};

const UNREADABLE: Record<string, RegExp> = {
  "17-broken.pdf": /the PDF is broken/,
  "18-empty.txt": /the document is empty/,
};

let refs: Map<string, DocumentRef>;
beforeAll(async () => {
  const { documents } = await expandInputs(["."], { cwd: folder });
  refs = new Map(documents.map((ref) => [ref.name, ref]));
});

function refOf(name: string): DocumentRef {
  const ref = refs.get(name);
  if (!ref) throw new Error(`${name} is not among the sample documents`);
  return ref;
}

describe("the sample documents", () => {
  it("are all described here", () => {
    expect([...refs.keys()].sort()).toEqual([...Object.keys(HOLDS), ...Object.keys(UNREADABLE)].sort());
  });

  it.each(Object.entries(HOLDS))("%s is read right", async (name, [company, date, total]) => {
    const document = await readDocument(refOf(name));
    const answer = await model.invoke("text" in document ? document.text : "");
    const output = JSON.parse(answer.text) as Record<string, unknown>;
    expect(output).toMatchObject({ company, date, total });
    expect(output.address).toEqual(expect.any(String));
  });

  it.each(Object.entries(UNREADABLE))("%s can't be read, and the reason is given", async (name, reason) => {
    await expect(readDocument(refOf(name))).rejects.toThrow(reason);
  });

  it("hold one that is huge and still under 1 MiB", async () => {
    const { size } = await stat(refOf("19-wholesale.txt").path);
    expect(size).toBeGreaterThan(400 * 1024);
    expect(size).toBeLessThan(1024 * 1024);
  });
});
