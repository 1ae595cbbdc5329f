import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import express, { type Response } from 'express';
import { type EventStreamOptions, openEventStream } from '../../../server/api/eventStream.ts';
import { until } from '../../support/poll.ts';

const MIB = 1_048_576;
const PIECE = 'x'.repeat(MIB / 4);

type Stream = ReturnType<typeof openEventStream>;
let http: Server;
let opened: Promise<{ response: Response; stream: Stream }>;
let port: number;

/** A server that begins a stream for every request, for the test to fill. */
async function serve(options?: EventStreamOptions): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<Awaited<typeof opened>>();
  opened = promise;
  http = createServer(
    express().get('/', (_request, response) => resolve({ response, stream: openEventStream(response, options) })),
  );
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  port = (http.address() as AddressInfo).port;
}

afterEach(async () => {
  const closed = new Promise((resolve) => http.close(resolve));
  http.closeAllConnections();
  await closed;
});

/** A client that asks and then reads nothing. */
function deafReader(): Socket {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return socket;
}

const reader = () => new Promise<IncomingMessage>((resolve) => get({ port, host: '127.0.0.1' }, resolve));

describe('a quiet stream', () => {
  test('is kept alive with comments, and ends without any more of them', async () => {
    await serve({ heartbeatMs: 5 });
    const answer = await reader();
    const { stream } = await opened;
    stream.send('first', { n: 1 });
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) {
      text += chunk;
      if (text.split(':\n\n').length > 3) stream.end();
    }
    expect(text.replaceAll(':\n\n', '')).toBe('event: first\ndata: {"n":1}\n\n');
    const comments: string[] = [];
    createParser({ onEvent: () => {}, onComment: (comment) => void comments.push(comment) }).feed(text);
    expect(comments.length).toBeGreaterThanOrEqual(3);
  });
});

describe('a reader that reads nothing', () => {
  test('is dropped when more than 1 MiB waits, so that it costs no more than that and one event', async () => {
    await serve();
    const socket = deafReader();
    const { response, stream } = await opened;
    let most = 0;
    let lastWaiting = 0;
    let sent = 0;
    for (; sent < 400 && !response.destroyed; sent += 1) {
      lastWaiting = response.writableLength;
      stream.send('text-delta', { text: PIECE });
      most = Math.max(most, response.writableLength);
      await turnOfTheLoop();
    }
    expect(response.destroyed).toBe(true);
    expect(sent).toBeLessThan(400);
    expect(lastWaiting).toBeGreaterThan(MIB);
    expect(most).toBeLessThan(MIB + PIECE.length + 1_000);
    // The sender continues and is not informed.
    for (let more = 0; more < 100; more += 1) stream.send('text-delta', { text: PIECE });
    expect(response.writableLength).toBeLessThan(MIB + PIECE.length + 1_000);
    stream.end();
    socket.destroy();
  });

  test('is dropped too when it leaves what is left of an ended stream unread for too long', async () => {
    await serve({ drainMs: 20 });
    const socket = deafReader();
    const { response, stream } = await opened;
    stream.send('text-delta', { text: 'x'.repeat(32 * MIB) });
    stream.end();
    expect(response.destroyed).toBe(false);
    await until(() => response.destroyed);
    socket.destroy();
  });
});

describe('a reader that keeps up', () => {
  test('gets all of a stream, however long it is', async () => {
    await serve();
    const answer = await reader();
    const { stream } = await opened;
    let read = 0;
    const finished = (async () => {
      for await (const chunk of answer) read += (chunk as Buffer).length;
    })();
    const event = `event: text-delta\ndata: ${JSON.stringify({ text: PIECE })}\n\n`.length;
    for (let sent = 1; sent <= 100; sent += 1) {
      stream.send('text-delta', { text: PIECE });
      await until(() => read >= sent * event);
    }
    stream.end();
    await finished;
    expect(read).toBe(100 * event);
  });

  test('is not dropped over one event that is large', async () => {
    await serve();
    const answer = await reader();
    const { stream } = await opened;
    let read = '';
    const finished = (async () => {
      for await (const chunk of answer.setEncoding('utf8')) read += chunk;
    })();
    stream.send('large', { text: 'x'.repeat(8 * MIB) });
    await until(() => read.length > 8 * MIB);
    stream.send('last', {});
    stream.end();
    await finished;
    expect(read.endsWith('event: last\ndata: {}\n\n')).toBe(true);
  });
});
