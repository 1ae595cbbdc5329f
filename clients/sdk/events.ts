import { createParser } from 'eventsource-parser';
import { errorOf, unreadable } from './answer.ts';
import { ConnectionError } from './errors.ts';
import type { Settings } from './options.ts';
import { requestOf } from './request.ts';
import { exchange } from './transport.ts';
import type { AnyInput, StreamEvent } from './types.ts';

/** One event holds a piece of a reply, or numbers: far less than this. */
const MAX_EVENT_CHARACTERS = 16 * 1024 * 1024;
const NAMES = new Set<string | undefined>([
  'conversation-id',
  'text-delta',
  'debug-info',
  'error',
] satisfies StreamEvent['event'][]);
const LAST = new Set<string>(['debug-info', 'error'] satisfies StreamEvent['event'][]);

/** The events of `streamMessage`, up to the one last event. See `Guildhall.events`. */
export async function* eventsOf(settings: Settings, input: AnyInput): AsyncGenerator<StreamEvent, void, undefined> {
  const request = requestOf(settings, 'streamMessage', input);
  request.headers.set('accept', 'text/event-stream');
  const response = await exchange(settings, request, async (answer) => {
    input.onResponse?.(answer);
    if (!answer.ok) throw await errorOf(answer, 'streamMessage');
    return answer;
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    throw unreadable(response, await response.text(), 'streamMessage');
  }
  const broken = (why: string) => new ConnectionError(`${settings.origin} ${why}`, 'STREAM_CUT');
  const arrived: StreamEvent[] = [];
  let failure: ConnectionError | undefined;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent({ event, data }) {
      // Events that a later version of the service may add are left out.
      if (failure || !NAMES.has(event)) return;
      try {
        arrived.push({ event, data: JSON.parse(data) } as StreamEvent);
      } catch {
        failure = broken('sent an event that is no JSON.');
      }
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') failure ??= broken('sent an event without an end.');
    },
  });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) throw broken('ended the stream in the middle of the reply.');
      parser.feed(decoder.decode(value, { stream: true }));
      for (const event of arrived.splice(0)) {
        yield event;
        if (LAST.has(event.event)) return;
      }
      if (failure) throw failure;
    }
  } finally {
    // Whoever leaves the loop closes the connection.
    await reader?.cancel().catch(() => undefined);
  }
}
