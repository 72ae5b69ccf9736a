import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BUILT_IN_DETECTORS } from "./index.js";

/** What the detector of a type finds in a text. */
function found(type: string, text: string, label = ""): string[] {
  return (BUILT_IN_DETECTORS.get(type)?.(text, label) ?? []).map(({ start, end }) => text.slice(start, end));
}

/** By type: a text and all that must be found in it. */
const CASES: Record<string, [text: string, matches: string[]][]> = {
  email: [
    ["Ask bob.o'neil+tag@mail.example.co.uk.", ["bob.o'neil+tag@mail.example.co.uk"]],
    ["<a@x.io>,b@y.org;c@z.museum", ["a@x.io", "b@y.org", "c@z.museum"]],
    ["'bob@example.com'", ["bob@example.com"]],
    ["?to=bob%40example.com&x=1", ["bob%40example.com"]],
    ["jürgen@müller.de and 用户bob@example.com谢谢", ["jürgen@müller.de", "bob@example.com"]],
    ["ｂｏｂ＠ｅｘａｍｐｌｅ．ｃｏｍ", ["ｂｏｂ＠ｅｘａｍｐｌｅ．ｃｏｍ"]],
    ["a@b@example.com", ["b@example.com"]],
    ["user@localhost, @handle, a@.com, x@1.2.3, 5 @ 3.50", []],
  ],
  credit_card: [
    ["4111 1111 1111 1111", ["4111 1111 1111 1111"]],
    [
      "5500-0000-0000-0004 378282246310005 30569309025904",
      ["5500-0000-0000-0004", "378282246310005", "30569309025904"],
    ],
    ["3782 822463 10005", ["3782 822463 10005"]],
    ["6011000990139424, 3530111333300000", ["6011000990139424", "3530111333300000"]],
    ["4222222222222", ["4222222222222"]],
    ["card: 4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", ["4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"]],
    ["VISA4111111111111111", ["4111111111111111"]],
    ["４１１１ １１１１ １１１１ １１１１", ["４１１１ １１１１ １１１１ １１１１"]],
    ["2018 4111 1111 1111 1111 12/27", ["4111 1111 1111 1111"]],
    ["4111 1111 1111 1112", []],
    ["REF NO: 4111111111111111, INVOICE 4111111111111111", []],
    ["4060010002913  2  3.50  7.00  S", []],
    ["x4111111111111111, 0.4111111111111111, 4111111111111111.5", []],
    ["12345678901234567890, 1234567812345670, 6018840059147765", []],
  ],
  ip: [
    ["10.0.0.1, 192.168.1.254.", ["10.0.0.1", "192.168.1.254"]],
    ["[2001:db8::1]:443 fe80::1%eth0 ::1", ["2001:db8::1", "fe80::1", "::1"]],
    ["::ffff:10.0.0.1 and node:2001:db8::2", ["::ffff:10.0.0.1", "2001:db8::2"]],
    ["1:2:3:4:5:6:7:8", ["1:2:3:4:5:6:7:8"]],
    ["256.1.1.1, 1.2.3, 1.2.3.4.5, v1.2.3.4, 05.22.95.66.66", []],
    ["12:30:45, std::vector, Face::Add, a::b, 1::2::3", []],
  ],
  mac_address: [
    [
      "00:1A:2b:3c:4d:5e 00-1a-2b-3c-4d-5e 001a.2b3c.4d5e",
      ["00:1A:2b:3c:4d:5e", "00-1a-2b-3c-4d-5e", "001a.2b3c.4d5e"],
    ],
    ["00:1a:2b:3c:4d, 00:1a:2b:3c:4d:5e:6f, g0:1a:2b:3c:4d:5e", []],
  ],
  url: [
    [
      "See (https://example.com/a_(b)?q=1#x) or WWW.EXAMPLE.COM.",
      ["https://example.com/a_(b)?q=1#x)", "WWW.EXAMPLE.COM"],
    ],
    ["(http://x.io).", ["http://x.io"]],
    ["postgres://me:secret@db/x", ["postgres://me:secret@db/x"]],
    ["详见https://example.com/a，谢谢", ["https://example.com/a"]],
    ["example.com, http:, www. shop, c:\\x", []],
  ],
  phone: [
    ["TEL : 07-5547360 / 016-7993391  FAX : 07-5624059", ["07-5547360", "016-7993391", "07-5624059"]],
    ["+60 12-345 6789 or (+603) 7831 0109", ["+60 12-345 6789", "(+603) 7831 0109"]],
    ["03-9201 6281/6920", ["03-9201 6281/6920"]],
    ["TEL: 603-40232487, 40238191", ["603-40232487", "40238191"]],
    ["call (415) 555-2671 or 415-555-2671", ["(415) 555-2671", "415-555-2671"]],
    ["0812-3456-7890 081234567890", ["0812-3456-7890", "081234567890"]],
    ["tel 03-91334364 25/12/2018 8:13", ["03-91334364"]],
    ["HP: 012-3456789 12.50", ["012-3456789"]],
    ["TEL 1-300-80-AEON (2366)", ["1-300-80-AEON (2366)"]],
    ["电话：138 1234 5678", ["138 1234 5678"]],
    ["25/12/2018 2018-12-25 25-12-2018 09-06-2018 16:00 20:13:39", []],
    ["9556939040116 012345678905 000433614848 1700000000000", []],
    ["RM 1,234,567.00 0.82 12.50 4.00 100.00", []],
    ["GST NO: 0010 9010 5344, INVOICE NO: 01-428985, RECEIPT NO.:003-1220815", []],
    ["INVOICE NO : 03-12345678, BILL NO : HP01-188357, 2012-0043", []],
    ["2+60123456 is a sum, 5128 4851 2118 an account", []],
  ],
  iban: [
    ["GB82 WEST 1234 5698 7654 32", ["GB82 WEST 1234 5698 7654 32"]],
    [
      "de89370400440532013000;FR1420041010050500013M02606",
      ["de89370400440532013000", "FR1420041010050500013M02606"],
    ],
    ["ba26220e-2d99-4f14-82dc-414bfa02e93e, 6a06f13d-a19b-46cc-be77-7d8ecd6bd7bc are UUIDs", []],
    ["GB82-WEST-1234-5698-7654-32", ["GB82-WEST-1234-5698-7654-32"]],
    ["GB82WEST12345698765433 XX82WEST12345698765432 GB82WEST123456987654321", []],
  ],
  ssn: [
    ["123-45-6789", ["123-45-6789"]],
    ["SSN: 123 45 6789, ssn 123456789", ["123 45 6789", "123456789"]],
    ["000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000", []],
    ["123 45 6789, 123456789, 1-123-45-6789, 123-45-6789-0", []],
  ],
  nik: [
    ["NIK 3201011507900001, 3201 0155 0790 0002", ["3201011507900001", "3201 0155 0790 0002"]],
    ["0001011507900001 3201013207900001 3201011513900001 3201011507900000 32010115079000011", []],
  ],
};

describe.each(Object.entries(CASES))("%s", (type, cases) => {
  it.each(cases)("%s", (text, matches) => {
    expect(found(type, text)).toEqual(matches);
  });
});

describe("every detector", () => {
  const text = fc.string({ unit: fc.constantFrom(..."019 -.:@/+()ae%[\\\nTELcard४４中"), maxLength: 120 });

  it("answers in order, within the text and without overlap", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("", "phone", "x"), (input, label) => {
        for (const detect of BUILT_IN_DETECTORS.values()) {
          let end = 0;
          for (const match of detect(input, label)) {
            expect(match.start).toBeGreaterThanOrEqual(end);
            expect(match.end).toBeGreaterThan(match.start);
            end = match.end;
          }
          expect(end).toBeLessThanOrEqual(input.length);
        }
      }),
      { seed: 5, numRuns: 2_000 },
    );
  });

  it("takes the key over a value as evidence for phone numbers only", () => {
    expect(found("phone", "0345678", "customerPhone")).toEqual(["0345678"]);
    expect(found("phone", "0345678", "total")).toEqual([]);
  });
});
