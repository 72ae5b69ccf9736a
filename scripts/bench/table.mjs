/** Rows of texts as aligned columns, the first row as their heads. @param {string[][]} rows */
export function tableOf(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join("  ")
      .trimEnd();
  const [head, ...body] = rows.map(line);
  return [head, widths.map((width) => "-".repeat(width)).join("  "), ...body].join("\n");
}
