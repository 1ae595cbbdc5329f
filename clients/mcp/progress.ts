import type { ServerContext } from '@modelcontextprotocol/server';

/** Sends the progress of a request, if its client has asked for it with a token; undefined when it has not. */
export function progressOf({
  _meta,
  notify,
  signal,
}: ServerContext['mcpReq']): ((message: string) => void) | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (message) => {
    if (signal.aborted) return;
    progress += 1;
    // Who has gone gets no more, and the work ends by its signal.
    notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {});
  };
}
