import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { createInterface } from "node:readline";
import { DroverError, isFinal } from "@drover/contracts";
import { scoreFields } from "@drover/documents";
import type { ResultLine } from "./result-line.js";

export interface Score {
  /** Documents that were compared: those with a truth that ended. */
  documents: number;
  /** Of those, the ones that did not succeed: none of their fields is right. */
  failed: number;
  /** Not compared: they wait for a person, or have not ended. */
  waiting: number;
  withoutTruth: number;
  fields: Record<string, { right: number; share: number }>;
  /** Right fields of all fields. */
  share: number;
}

type Truth = Record<string, unknown>;

/** Compares outputs with truths: by field, over the documents whose file name without extension is a truth's `id`. */
export async function scoreBatch(pages: AsyncIterable<ResultLine[]>, truthFile: string): Promise<Score> {
  const truths = await readTruths(truthFile);
  const right: Record<string, number> = {};
  const score: Score = { documents: 0, failed: 0, waiting: 0, withoutTruth: 0, fields: {}, share: 0 };
  let all = 0;
  for await (const lines of pages) {
    for (const line of lines) {
      const truth = truths.get(idOf(line.document ?? ""));
      if (!truth) score.withoutTruth += 1;
      else if (!isFinal(line.status)) score.waiting += 1;
      else {
        score.documents += 1;
        if (line.status !== "success") score.failed += 1;
        for (const [field, isRight] of Object.entries(scoreFields(line.output, truth))) {
          all += 1;
          right[field] = (right[field] ?? 0) + (isRight && line.status === "success" ? 1 : 0);
        }
      }
    }
  }
  const share = (n: number, of: number): number => (of > 0 ? n / of : 0);
  for (const [field, n] of Object.entries(right))
    score.fields[field] = { right: n, share: share(n, score.documents) };
  score.share = share(
    Object.values(right).reduce((sum, n) => sum + n, 0),
    all,
  );
  return score;
}

/** `receipts/000.txt` → `000`. */
function idOf(document: string): string {
  const name = basename(document);
  return name.slice(0, name.length - extname(name).length);
}

async function readTruths(path: string): Promise<Map<string, Truth>> {
  await stat(path).catch((cause: unknown) => {
    throw new DroverError("INVALID_INPUT", `--truth: the file ${path} can't be read.`, { cause });
  });
  const truths = new Map<string, Truth>();
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    number += 1;
    if (line.trim() === "") continue;
    const truth = parse(line);
    if (!truth) {
      throw new DroverError(
        "INVALID_INPUT",
        `${path}, line ${number}: not a JSON object with an "id". Each line is like {"id": "000", "total": "9.00"}.`,
      );
    }
    truths.set(String(truth.id), truth);
  }
  return truths;
}

function parse(line: string): Truth | null {
  try {
    const value = JSON.parse(line) as Truth | null;
    return typeof value === "object" && value !== null && "id" in value ? value : null;
  } catch {
    return null;
  }
}
