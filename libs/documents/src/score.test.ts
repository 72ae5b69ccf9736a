import { describe, expect, it } from "vitest";
import { scoreFields } from "./index.js";

describe("scoreFields", () => {
  it("compares text by letters and digits, amounts as numbers, dates as days with the day first", () => {
    const output = {
      company: "Blue Heron Sdn. Bhd.",
      date: "2018-04-03",
      total: 9,
      address: "12 Jalan  Melati",
    };
    const truth = {
      id: "1",
      company: "BLUE HERON SDN BHD",
      date: "03/04/18",
      total: "RM9.00",
      address: "12, JALAN MELATI.",
    };
    expect(scoreFields(output, truth)).toEqual({ company: true, date: true, total: true, address: true });
  });

  it("reads every way in which a truth writes a day", () => {
    for (const date of [
      "2018-04-03",
      "03-04-2018",
      "3.4.18",
      "03 APR 2018",
      "APR 3, 2018",
      "20180403",
      "(03/04/2018)",
    ]) {
      expect(scoreFields({ date: "2018-04-03" }, { date }), date).toEqual({ date: true });
    }
  });

  it("takes a missing value for right only where the truth is missing too", () => {
    expect(scoreFields({ total: null }, { total: "" })).toEqual({ total: true });
    expect(scoreFields({ total: 0 }, { total: "" })).toEqual({ total: false });
    expect(scoreFields(null, { company: "X" })).toEqual({ company: false });
  });
});
