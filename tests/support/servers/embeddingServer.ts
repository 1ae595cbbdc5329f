import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ModelSettings } from '../../../runtime/models/settings.ts';

/*
 * A provider of embeddings on a local port, in the wire formats of OpenAI (`/v1/embeddings`, which compatible servers share) and
 * Google (`:embedContent`, `:batchEmbedContents`). Its vectors are from the words of a text: a word that is listed in `meanings` points
 * where the others of its line point.
 */

/**
 * How the server answers: with vectors, a refusal, too few vectors, half of them, in another order, in base64 though numbers were asked
 * for, with far more than vectors, vectors of zeros, a NaN as no JSON has it, a null in place of a number, or not at all.
 */
export type EmbeddingStep =
  | 'vectors'
  | { status: number; message?: string }
  | 'too-few'
  | 'half'
  | 'disordered'
  | 'base64'
  | 'padded'
  | 'nan'
  | 'null'
  | 'zeros'
  | 'silence'
  | 'hang-up';

/** One request as the provider saw it. */
export interface EmbeddingRequest {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  model: string;
  texts: string[];
  /** The task types that Google's API takes, one for each text. */
  tasks: string[];
}

/** A running server. */
export interface EmbeddingServer {
  url: string;
  /** Settings with this server as the provider, without retries unless given. */
  settings(overrides?: Partial<ModelSettings>): ModelSettings;
  /** One step a request; then `fallback` answers. */
  script(...steps: EmbeddingStep[]): void;
  fallback: EmbeddingStep;
  /** Decides by the texts of a request, in place of `fallback`. */
  decide?: (texts: string[]) => EmbeddingStep | Promise<EmbeddingStep>;
  /** Length of the vectors. */
  dimensions: number;
  /** When given, the first value of every vector. Real models give values that are almost 0. */
  first?: number;
  /** Words of one meaning, a line each. */
  meanings: string[][];
  requests: EmbeddingRequest[];
  /** Most requests that were under way at one time. */
  mostAtOnce: number;
  close(): Promise<void>;
}

interface Body {
  model?: string;
  input?: string[];
  encoding_format?: string;
  content?: { parts: { text: string }[] };
  taskType?: string;
  requests?: { content: { parts: { text: string }[] }; taskType?: string }[];
}

/** Starts it on 127.0.0.1. */
export async function startEmbeddingServer(): Promise<EmbeddingServer> {
  const steps: EmbeddingStep[] = [];
  const sockets = new Set<Socket>();
  let underWay = 0;

  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body;
    const path = request.url ?? '';
    const texts = textsOf(body);
    const model = body.model ?? /models\/([^:]+)/.exec(path)?.[1] ?? '';
    const tasks = [body, ...(body.requests ?? [])].flatMap(({ taskType }) => taskType ?? []);
    server.requests.push({ path, headers: request.headers, model, texts, tasks });
    underWay += 1;
    response.once('close', () => {
      underWay -= 1;
    });
    server.mostAtOnce = Math.max(server.mostAtOnce, underWay);
    const step = steps.shift() ?? (await server.decide?.(texts)) ?? server.fallback;
    if (step === 'silence') return;
    if (step === 'hang-up') {
      response.socket?.destroy();
      return;
    }
    const send = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (typeof step === 'object') {
      send(step.status, {
        error: { message: step.message ?? `Refused with ${step.status}.`, type: 'error', code: step.status },
      });
      return;
    }
    const vectors = texts.map((text) =>
      step === 'zeros'
        ? new Array<number>(server.dimensions).fill(0)
        : vectorOf(text, server.dimensions, server.meanings),
    );
    const { first } = server;
    if (first !== undefined) for (const vector of vectors) vector[0] = first;
    if (step === 'too-few') vectors.pop();
    if (step === 'half') vectors.length = Math.floor(vectors.length / 2);
    if (step === 'nan') {
      const text = JSON.stringify(answerOf(path, model, vectors)).replace(/\[-?[\d.e-]+/, '[NaN');
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
      return;
    }
    const answer = answerOf(path, model, vectors);
    if (answer.data && (step === 'base64' || body.encoding_format === 'base64')) {
      for (const item of answer.data) item.embedding = base64Of(item.embedding as number[]);
    }
    if (step === 'disordered') answer.data?.reverse();
    if (step === 'padded') answer.padding = 'x'.repeat(2 ** 20);
    if (step === 'null') (answer.data?.[0]?.embedding as (number | null)[])[1] = null;
    send(200, answer);
  });
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server: EmbeddingServer = {
    url,
    settings: (overrides) => ({
      openai: { apiKey: 'sk-proj-test0123456789abcdef', baseUrl: `${url}/v1` },
      google: { apiKey: 'AIzaTest0123456789abcdefghijklmnop', baseUrl: `${url}/v1beta` },
      openaiCompatible: { baseUrl: `${url}/v1`, models: [] },
      embeddings: { provider: 'openai', modelId: 'text-embedding-3-small' },
      retries: 0,
      ...overrides,
    }),
    script: (...more) => void steps.push(...more),
    fallback: 'vectors',
    dimensions: 64,
    meanings: [],
    requests: [],
    mostAtOnce: 0,
    close: async () => {
      const ended = new Promise<void>((resolve) => http.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await ended;
    },
  };
  return server;
}

function textsOf({ input, content, requests }: Body): string[] {
  const all = (of: { parts: { text: string }[] }) => of.parts.map(({ text }) => text).join('');
  return input ?? requests?.map((each) => all(each.content)) ?? (content ? [all(content)] : []);
}

interface Answer {
  data?: { index: number; embedding: unknown }[];
  [name: string]: unknown;
}

/** The numbers as OpenAI writes them in base64: 32 bits each. */
function base64Of(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64');
}

// https://platform.openai.com/docs/api-reference/embeddings and https://ai.google.dev/api/embeddings
function answerOf(path: string, model: string, vectors: number[][]): Answer {
  if (path.endsWith(':embedContent')) return { embedding: { values: vectors[0] } };
  if (path.endsWith(':batchEmbedContents')) return { embeddings: vectors.map((values) => ({ values })) };
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model, usage: { prompt_tokens: 3, total_tokens: 3 } };
}

/** A direction for a text: the sum of those of its words. */
export function vectorOf(text: string, dimensions: number, meanings: readonly string[][]): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    let state = hash(meanings.find((line) => line.includes(word))?.[0] ?? word);
    for (let at = 0; at < dimensions; at += 1) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      vector[at] = (vector[at] ?? 0) + (state >>> 8) / 2 ** 24 - 0.5;
    }
  }
  return vector.map((value) => value + 1e-6);
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
