/** Where Alertmanager's example sends alerts: prints a line for each. Put your chat, pager or ticket system in its place. */
import { createServer } from "node:http";

createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const { alerts = [] } = JSON.parse(Buffer.concat(parts).toString() || "{}");
  for (const { status, labels, annotations } of alerts) {
    console.log(`${status} ${labels.severity} ${labels.alertname}: ${annotations.summary}`);
    console.log(`  look: ${annotations.command} · ${annotations.runbook}`);
  }
  response.end();
}).listen(8080);
