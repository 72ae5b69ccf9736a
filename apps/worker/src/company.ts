import { abortWith } from "@drover/contracts";

/**
 * Runs go side by side. One that may be at fault for the death of workers goes alone, so that one more death tells: it
 * waits until all others have ended, and while it waits or runs the door is shut, so that nothing more is taken. Whoever
 * was on the way already, or waits to be alone too, is sent elsewhere while one is alone: that may take hours.
 */
export class Company {
  private readonly waiting = new Set<Guest>();
  private inside = 0;
  private hasOneAlone = false;
  private isShut = false;

  /** @param onDoor told when the door is shut, and when it is open again */
  constructor(private readonly onDoor: (isShut: boolean) => void) {}

  /**
   * Resolves when the run may begin, with what must be called at its end; with null where it is to go elsewhere, or a
   * signal fired before: nothing of it may be executed then.
   */
  async enter(isAlone: boolean, ...signals: readonly AbortSignal[]): Promise<(() => void) | null> {
    const stop = new AbortController();
    const letGo = abortWith(stop, ...signals);
    const isIn = !stop.signal.aborted && (await this.turn(isAlone, stop.signal));
    letGo();
    return isIn ? () => this.leave() : null;
  }

  private turn(isAlone: boolean, signal: AbortSignal): Promise<boolean> {
    if (this.hasOneAlone) return Promise.resolve(false);
    return new Promise((resolve) => {
      const guest: Guest = { isAlone, answer: resolve };
      signal.addEventListener("abort", () => {
        if (!this.waiting.delete(guest)) return;
        resolve(false);
        this.letIn();
      });
      this.waiting.add(guest);
      this.letIn();
    });
  }

  private leave(): void {
    this.inside -= 1;
    this.hasOneAlone = false;
    this.letIn();
  }

  private letIn(): void {
    // Those that need no solitude are few, since the door is shut: they do not wait for all that do.
    const inTurn = [...this.waiting].sort((a, b) => Number(a.isAlone) - Number(b.isAlone));
    for (const guest of inTurn) {
      if (guest.isAlone && this.inside > 0 && !this.hasOneAlone) break;
      this.waiting.delete(guest);
      guest.answer(!this.hasOneAlone);
      if (this.hasOneAlone) continue;
      this.inside += 1;
      this.hasOneAlone = guest.isAlone;
    }
    const isShut = this.hasOneAlone || [...this.waiting].some(({ isAlone }) => isAlone);
    if (isShut === this.isShut) return;
    this.isShut = isShut;
    this.onDoor(isShut);
  }
}

interface Guest {
  isAlone: boolean;
  answer: (mayBegin: boolean) => void;
}
