import { BUILT_IN_PII_TYPES, type BuiltInPiiType } from "@drover/contracts";

/** Every road on which a text comes into a worker, or leaves it. Each gets values of its own. */
export const ROADS = [
  "input",
  "context",
  "metadata",
  "tags",
  "document",
  "tool_args",
  "broken_args",
  "tool_result",
  "artifact",
  "file",
  "memory",
  "custom_event",
  "output",
  "reasoning",
  "structured_output",
  "handled_error",
  "fatal_error",
  "provider_error",
  "approval",
  "edit",
  "respond",
  "comment",
  "decided_by",
  "question",
  "answer",
  "once",
  "subagent",
  "cancel_reason",
  "crash",
  "sent",
  "history",
] as const;
export type Road = (typeof ROADS)[number];

export type Planted = Record<BuiltInPiiType, string>;

/** One value of every built-in type, none of which stands anywhere else. */
export function plantedOn(road: Road): Planted {
  const n = ROADS.indexOf(road) + 1;
  const two = String(n).padStart(2, "0");
  const hex = n.toString(16).padStart(2, "0");
  return {
    email: `zoe.${road}@planted-values.example`,
    credit_card: grouped(withLuhn(`4929135724680${two}`)),
    ip: `203.0.113.${100 + n}`,
    mac_address: `9c:35:5b:5f:a1:${hex}`,
    url: `https://planted-values.example/${road}/${two}?k=1`,
    phone: `+49 171 55501${two}`,
    iban: iban(`3704004405320130${two}`),
    ssn: `536-22-81${two}`,
    nik: `31740565089000${two}`,
  };
}

/** All of a road's values in one text. */
export function plantedText(road: Road): string {
  return Object.entries(plantedOn(road))
    .map(([type, value]) => `${type} ${value}`)
    .join("; ");
}

function withLuhn(payload: string): string {
  const sum = [...payload].reduceRight((total, digit, at) => {
    const doubled = (payload.length - 1 - at) % 2 === 0 ? Number(digit) * 2 : Number(digit);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return `${payload}${(10 - (sum % 10)) % 10}`;
}

function iban(account: string): string {
  // 131400 is DE00 in numbers.
  const check = 98n - (BigInt(`${account}131400`) % 97n);
  return `DE${String(check).padStart(2, "0")}${account}`.replace(/(.{4})(?=.)/g, "$1 ");
}

function grouped(digits: string): string {
  return digits.replace(/(.{4})(?=.)/g, "$1 ");
}

/** Where one planted value was found. */
export interface Leak {
  road: Road;
  type: BuiltInPiiType;
}

/** What all values of a type have in common, without spaces and hyphens: most texts hold none, and are done with. */
const CORES: Record<BuiltInPiiType, RegExp> = {
  email: /plantedvalues\.example/,
  credit_card: /492913572/,
  ip: /203\.0\.113/,
  mac_address: /9c(?::|%3A)35/i,
  url: /plantedvalues\.example/,
  phone: /4917155/,
  iban: /37040044/,
  ssn: /5362281/,
  nik: /317405650890/,
};

/**
 * Which planted values stand in a text: as they were written, without spaces and hyphens (a tool may join them), or
 * as a URL carries them.
 */
export function leaksIn(text: string, roads: readonly Road[] = ROADS): Leak[] {
  const joined = text.replace(/[\s-]/g, "");
  const types = BUILT_IN_PII_TYPES.filter((type) => CORES[type].test(joined));
  const holds = (value: string) =>
    text.includes(value) ||
    joined.includes(value.replace(/[\s-]/g, "")) ||
    text.includes(encodeURIComponent(value));
  return roads.flatMap((road) => {
    const planted = plantedOn(road);
    return types.filter((type) => holds(planted[type])).map((type) => ({ road, type }));
  });
}
