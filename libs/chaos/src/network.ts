import { createServer, connect as dial, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * The network between one process and Redis: a TCP proxy on 127.0.0.1 that can be made a bad one. What is held is delivered
 * late and in order, as a network does that lost packets for a while.
 */
export class Network {
  private readonly pairs = new Set<[Socket, Socket]>();
  private refuses = false;
  private delayMs = 0;
  private held: Promise<void> | null = null;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on("connection", (client) => this.accept(client));
  }

  static async to(target: number): Promise<Network> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Network(server, target);
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  /** The address `url`, by way of this proxy. */
  through(url: string): string {
    const there = new URL(url);
    there.port = String(this.port);
    return there.href;
  }

  /** Ends every connection and takes no new one for a while. */
  async cut(ms: number): Promise<void> {
    this.refuses = true;
    this.dropAll();
    await sleep(ms);
    this.refuses = false;
  }

  /** Delays everything, in both directions. */
  async slow(delayMs: number, ms: number): Promise<void> {
    this.delayMs = delayMs;
    await sleep(ms);
    this.delayMs = 0;
  }

  /** Lets nothing through for a while, then everything. */
  async hold(ms: number): Promise<void> {
    const over = sleep(ms);
    this.held = over;
    await over;
    if (this.held === over) this.held = null;
  }

  async close(): Promise<void> {
    this.dropAll();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private accept(client: Socket): void {
    if (this.refuses) {
      client.destroy();
      return;
    }
    const upstream = dial({ port: this.target, host: "127.0.0.1", noDelay: true });
    const pair: [Socket, Socket] = [client, upstream];
    this.pairs.add(pair);
    this.carry(client, upstream);
    this.carry(upstream, client);
    for (const socket of pair) {
      socket.on("error", () => {});
      socket.once("close", () => this.drop(pair));
    }
  }

  private carry(from: Socket, to: Socket): void {
    let before: Promise<void> = Promise.resolve();
    let waiting = 0;
    from.on("data", (chunk: Buffer) => {
      if (waiting === 0 && !this.held && this.delayMs === 0) {
        to.write(chunk);
        return;
      }
      waiting += 1;
      const due = this.delayMs > 0 ? sleep(this.delayMs) : Promise.resolve();
      before = before
        .then(() => due)
        .then(() => this.held ?? undefined)
        .then(() => {
          waiting -= 1;
          if (!to.destroyed) to.write(chunk);
        });
    });
  }

  private drop(pair: [Socket, Socket]): void {
    this.pairs.delete(pair);
    for (const socket of pair) socket.destroy();
  }

  private dropAll(): void {
    for (const pair of this.pairs) this.drop(pair);
  }
}
