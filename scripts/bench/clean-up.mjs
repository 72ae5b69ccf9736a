/** Runs `work` and then, in reverse order and whatever happened, what it gave to `later`. */
export async function withCleanUp(work) {
  const tasks = [];
  try {
    return await work((task) => tasks.push(task));
  } finally {
    for (const task of tasks.reverse()) await task();
  }
}
