/**
 * Aborts `controller` when one of the signals does, with its reason, until the returned function is called. It stands
 * where AbortSignal.any would: Node keeps what that returns for as long as anybody listens to it, and LangChain never
 * stops listening, so that a worker would keep something of every run.
 */
export function abortWith(controller: AbortController, ...signals: readonly AbortSignal[]): () => void {
  const lettingGo = signals.map((signal) => {
    const abort = () => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  });
  return () => {
    for (const letGo of lettingGo) letGo();
  };
}
