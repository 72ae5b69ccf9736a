/** The child that works on jobs of plain BullMQ and tells when each of them starts. */
import { Worker } from "bullmq";
import { Redis } from "ioredis";
import { serve, wallClock } from "./child.mjs";

const connection = new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });
let tell = () => {};

const worker = new Worker("bench-start", async () => tell(wallClock()), { connection, concurrency: 20 });
await worker.waitUntilReady();

serve(
  { ready: true },
  {
    nextStart: () =>
      new Promise((resolve) => {
        tell = resolve;
      }),
  },
);
