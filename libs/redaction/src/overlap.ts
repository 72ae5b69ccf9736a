import type { RedactionStrategy } from "@drover/contracts";
import type { Match } from "./match.js";

/** A match and the rule that made it; `order` is the rule's position. */
export interface RuleMatch extends Match {
  order: number;
  strategy: RedactionStrategy;
}

const STRICTNESS: Record<RedactionStrategy, number> = { block: 3, redact: 2, hash: 1, mask: 0 };

/**
 * Decides which rule replaces which text: the longer match wins, then the stricter strategy, then the order of the
 * rules. A match that only partly lies under a winner is lost as a match, but its text is not: the winner's `cover`
 * is widened over it, so that no character that any rule found remains. Ascending, without overlap.
 */
export function resolveOverlaps(
  matches: readonly RuleMatch[],
  textLength: number,
): (RuleMatch & { cover: Match })[] {
  const best = matches.toSorted(
    (a, b) =>
      b.end - b.start - (a.end - a.start) ||
      STRICTNESS[b.strategy] - STRICTNESS[a.strategy] ||
      a.order - b.order ||
      a.start - b.start,
  );
  const taken = new Uint8Array(textLength);
  const winners: (RuleMatch & { cover: Match })[] = [];
  const losers: RuleMatch[] = [];
  for (const match of best) {
    // Every winner so far is at least as long, so that one that overlaps reaches over an end of this match.
    if (taken[match.start] || taken[match.end - 1]) {
      losers.push(match);
      continue;
    }
    taken.fill(1, match.start, match.end);
    winners.push({ ...match, cover: { start: match.start, end: match.end } });
  }
  winners.sort((a, b) => a.start - b.start);
  widen(winners, losers);
  return winners;
}

function widen(winners: (RuleMatch & { cover: Match })[], losers: RuleMatch[]): void {
  losers.sort((a, b) => a.start - b.start);
  let w = 0;
  for (const loser of losers) {
    while (w < winners.length && (winners[w]?.end ?? 0) <= loser.start) w++;
    for (let k = w; k < winners.length; k++) {
      const winner = winners[k];
      if (winner === undefined || winner.start >= loser.end) break;
      const next = winners[k + 1];
      const end = next && next.start < loser.end ? next.start : loser.end;
      winner.cover.end = Math.max(winner.cover.end, end);
      if (k === w)
        winner.cover.start = Math.min(
          winner.cover.start,
          Math.max(loser.start, winners[w - 1]?.cover.end ?? 0),
        );
    }
  }
}
