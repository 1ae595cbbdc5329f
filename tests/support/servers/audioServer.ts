import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ModelSettings } from '../../../runtime/models/settings.ts';
import { mp3, wav } from '../files/audioSamples.ts';

/*
 * A provider of audio models on a local port, in the wire formats of OpenAI (`/v1/audio/transcriptions`, `/v1/audio/speech`, which
 * compatible servers share) and Google (`/v1beta/interactions`, `/v1beta/models/…:generateContent`). It refuses requests that are not
 * as the providers document them: https://platform.openai.com/docs/api-reference/audio, https://ai.google.dev/gemini-api/docs.
 */

/** How the server answers: what was said, sound (its own, or the given bytes), a refusal, a broken answer, or not at all. */
export type AudioStep =
  | { text: string }
  | { sound: Buffer; type?: string }
  | { status: number; message?: string }
  | 'silence'
  | 'hang-up'
  | 'no-json';

/** One request as the provider saw it. */
export interface AudioRequest {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  model: string;
  /** Of a transcription. */
  file?: { name: string; type: string; bytes: Buffer };
  /** Of speech. */
  input?: string;
  voice?: string | undefined;
  /** Resolves when the exchange is over: true when the client went away before the answer was complete. */
  closed: Promise<boolean>;
}

/** A running server. */
export interface AudioServer {
  url: string;
  /** Settings with this server as every provider that has audio, without retries unless given. */
  settings(overrides?: Partial<ModelSettings>): ModelSettings;
  /** One step a request; then recordings say `Hello.` and replies sound like an MP3 (a WAV at Google). */
  script(...steps: AudioStep[]): void;
  requests: AudioRequest[];
  /** Resolves when so many requests have arrived since the last `reset`. */
  received(count: number): Promise<void>;
  reset(): void;
  close(): Promise<void>;
}

export const OPENAI_KEY = 'sk-proj-audio0123456789abcdef';
export const GOOGLE_KEY = 'AIzaAudio0123456789abcdefghijklmnop';

/** What is wrong with a request, as OpenAI says it. */
class Refused extends Error {
  readonly status: number;
  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}

const FORMATS = ['flac', 'mp3', 'mp4', 'mpeg', 'mpga', 'm4a', 'ogg', 'wav', 'webm'];
const MAX_FILE_BYTES = 25 * 1024 * 1024;
const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
const MAX_INPUT_CHARS = 4096;

type Read = Omit<AudioRequest, 'path' | 'headers' | 'closed'>;

async function transcription(raw: Buffer<ArrayBuffer>, type: string): Promise<Read> {
  if (!type.startsWith('multipart/form-data; boundary=')) throw new Refused(`Unsupported content type '${type}'.`);
  const form = await new Response(raw, { headers: { 'content-type': type } }).formData();
  const [file, model, format] = [form.get('file'), form.get('model'), form.get('response_format') ?? 'json'];
  if (!(file instanceof File)) throw new Refused("Missing required parameter: 'file'.");
  if (typeof model !== 'string') throw new Refused("Missing required parameter: 'model'.");
  if (/^gpt-4o/.test(model) && format !== 'json') throw new Refused(`response_format '${format}' is not compatible.`);
  if (file.size > MAX_FILE_BYTES) throw new Refused('Maximum content size limit exceeded.', 413);
  if (!FORMATS.includes(file.name.split('.').at(-1) ?? '')) {
    throw new Refused(
      `Unrecognized file format. Supported formats: [${FORMATS.map((each) => `'${each}'`).join(', ')}]`,
    );
  }
  const bytes = Buffer.from(await file.arrayBuffer());
  return { model, file: { name: file.name, type: file.type, bytes } };
}

function speech(raw: Buffer, type: string): Read {
  if (!type.startsWith('application/json')) throw new Refused(`Unsupported content type '${type}'.`);
  const body = JSON.parse(raw.toString('utf8')) as Record<string, unknown>;
  const { model, input, voice, response_format: format = 'mp3' } = body;
  if (typeof model !== 'string') throw new Refused("Missing required parameter: 'model'.");
  if (typeof input !== 'string' || input === '') throw new Refused("Missing required parameter: 'input'.");
  if (input.length > MAX_INPUT_CHARS) throw new Refused('String should have at most 4096 characters');
  if (typeof voice !== 'string') throw new Refused("Missing required parameter: 'voice'.");
  if (!SPEECH_FORMATS.includes(String(format))) throw new Refused('Input should be a known response_format.');
  return { model, input, voice };
}

interface GoogleBody {
  model?: string;
  input?: { type: string; data: string; mime_type: string }[];
  contents?: { parts: { text: string }[] }[];
  generationConfig?: {
    responseModalities: string[];
    speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: string } } };
  };
}

function google(path: string, raw: Buffer): Read {
  const { model, input, contents, generationConfig } = JSON.parse(raw.toString('utf8')) as GoogleBody;
  if (path.endsWith('/interactions')) {
    const [audio] = input ?? [];
    if (audio?.type !== 'audio' || !/^audio\//.test(audio.mime_type)) throw new Refused('Invalid input.');
    const bytes = Buffer.from(audio.data, 'base64');
    return { model: model ?? '', file: { name: '', type: audio.mime_type, bytes } };
  }
  if (generationConfig?.responseModalities[0] !== 'AUDIO') throw new Refused('Invalid responseModalities.');
  return {
    model: /models\/([^:]+)/.exec(path)?.[1] ?? '',
    input: contents?.[0]?.parts.map(({ text }) => text).join('') ?? '',
    voice: generationConfig.speechConfig.voiceConfig.prebuiltVoiceConfig.voiceName,
  };
}

async function read(path: string, raw: Buffer<ArrayBuffer>, headers: NodeJS.Dict<string | string[]>): Promise<Read> {
  const type = String(headers['content-type']);
  if (path.startsWith('/v1beta/')) {
    if (headers['x-goog-api-key'] !== GOOGLE_KEY) throw new Refused('API key not valid.');
    return google(path, raw);
  }
  if (!/^Bearer \S+$/.test(String(headers.authorization))) throw new Refused('You did not provide an API key.', 401);
  if (path === '/v1/audio/transcriptions') return transcription(raw, type);
  if (path === '/v1/audio/speech') return speech(raw, type);
  throw new Refused(`Unknown request URL: POST ${path}.`, 404);
}

function answer(response: ServerResponse, path: string, step: AudioStep | undefined): void {
  const json = (status: number, value: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (step === 'silence') return;
  if (step === 'hang-up') return void response.socket?.destroy();
  if (step === 'no-json') return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"text": ');
  if (step && 'status' in step) {
    const message = step.message ?? `Refused with ${step.status}.`;
    json(step.status, { error: { message, type: 'invalid_request_error', param: null, code: step.status } });
    return;
  }
  const text = step && 'text' in step ? step.text : 'Hello.';
  const sound = step && 'sound' in step ? step.sound : undefined;
  if (path === '/v1/audio/transcriptions') {
    json(200, { text, usage: { type: 'tokens', input_tokens: 14, output_tokens: 4, total_tokens: 18 } });
  } else if (path.endsWith('/interactions')) {
    json(200, { steps: [{ type: 'model_output', content: [{ type: 'text', text }] }] });
  } else if (path.startsWith('/v1beta/')) {
    const data = (sound ?? wav()).toString('base64');
    json(200, { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'audio/wav', data } }] } }] });
  } else {
    const type = step && 'sound' in step ? (step.type ?? 'audio/mpeg') : 'audio/mpeg';
    response.writeHead(200, { 'content-type': type }).end(sound ?? mp3());
  }
}

/** Starts it on 127.0.0.1. */
export async function startAudioServer(): Promise<AudioServer> {
  const steps: AudioStep[] = [];
  const sockets = new Set<Socket>();
  const waiting: { count: number; resolve: () => void }[] = [];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const closed = new Promise<boolean>((resolve) => response.once('close', () => resolve(!response.writableFinished)));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? '';
    try {
      const seen = await read(path, Buffer.concat(chunks), request.headers);
      server.requests.push({ ...seen, path, headers: request.headers, closed });
      for (const { count, resolve } of waiting) if (server.requests.length >= count) resolve();
      answer(response, path, steps.shift());
    } catch (error) {
      const { message, status = 500 } = error as Refused;
      answer(response, path, { status, message });
    }
  }

  const http = createServer(handle);
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const server: AudioServer = {
    url,
    settings: (overrides) => ({
      openai: { apiKey: OPENAI_KEY, baseUrl: `${url}/v1` },
      google: { apiKey: GOOGLE_KEY, baseUrl: `${url}/v1beta` },
      openaiCompatible: { baseUrl: `${url}/v1`, models: [] },
      retries: 0,
      ...overrides,
    }),
    script: (...more) => void steps.push(...more),
    requests: [],
    received: (count) =>
      new Promise((resolve) => {
        if (server.requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    reset() {
      steps.length = 0;
      waiting.length = 0;
      server.requests.length = 0;
    },
    async close() {
      const ended = new Promise<void>((resolve) => http.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await ended;
    },
  };
  return server;
}
