import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Milliseconds of CPU that a process has used; what ps says where there is no /proc. */
export function cpuMsOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
    // utime and stime, in ticks of 10 ms on every Linux that Node runs on.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    const [seconds = 0, minutes = 0, hours = 0] = execFileSync("ps", ["-o", "time=", "-p", String(pid)])
      .toString()
      .trim()
      .split(":")
      .map(Number)
      .reverse();
    return (seconds + 60 * minutes + 3600 * hours) * 1000;
  }
}
