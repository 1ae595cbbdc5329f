import { InvalidResponseDataError } from '@ai-sdk/provider';
import { OversizedAnswer } from '../models/answerLimit.ts';
import type { ModelFetch } from '../models/transport.ts';

/** Longer vectors are refused: the longest of known models have half as many numbers. */
export const MAX_DIMENSIONS = 8_192;
/** A number as JSON, with its comma: `-0.012345678901234567,`. */
const BYTES_PER_NUMBER = 25;
/** What an answer has beside its vectors. */
const SPARE_BYTES = 64 * 1024;

/** The vectors of an answer as the model gave them. */
export interface AnsweredVectors {
  vectors?: readonly (readonly number[])[];
}

/**
 * `fetch` for one call of a model for embeddings. It reads no more than so many texts can have as their answer, since a whole answer is
 * parsed on the main thread. In OpenAI's format it puts the vectors into `into`, in the order of the texts, and the provider's package gets
 * an answer without them: the package goes by the order of the answer alone, knows only numbers, and checks each of them in a way that
 * takes longer than parsing.
 */
export function embeddingFetch(
  fetch: ModelFetch,
  { texts, provider, into }: { texts: number; provider: string; into: AnsweredVectors },
): typeof globalThis.fetch {
  const maxBytes = texts * MAX_DIMENSIONS * BYTES_PER_NUMBER + SPARE_BYTES;
  return async (input, init) => {
    const body = init?.body;
    // A fifth of the size. Servers of one's own may refuse a format that they do not know.
    const asked = provider === 'openai' && typeof body === 'string' ? { ...init, body: inBase64(body) } : init;
    const response = await fetch(input, asked, maxBytes).catch((error: unknown) => {
      if (!(error instanceof OversizedAnswer)) throw error;
      throw new InvalidResponseDataError({ data: null, message: 'The answer is far larger than the vectors.' });
    });
    if (provider === 'google' || response.status !== 200) return response;
    into.vectors = vectorsOf(await response.text());
    return Response.json({ data: [] });
  };
}

function inBase64(body: string): string {
  // Within a text its quotation marks would be escaped.
  return body.replace('"encoding_format":"float"', '"encoding_format":"base64"');
}

/** The vectors of an answer in OpenAI's format, by the index that each has. Throws InvalidResponseDataError. */
export function vectorsOf(text: string): number[][] {
  const items = itemsOf(text);
  const vectors = items.map(({ embedding }) => numbersOf(embedding));
  const places = new Set(items.map(({ index }) => index));
  const isOrder = places.size === items.length && items.every((_, at) => places.has(at));
  // Some servers write 0 everywhere, or no index.
  if (!isOrder) return vectors;
  const ordered = new Array<number[]>(vectors.length);
  for (const [at, { index }] of items.entries()) ordered[index as number] = vectors[at] ?? [];
  return ordered;
}

function itemsOf(text: string): { index?: unknown; embedding?: unknown }[] {
  try {
    const { data } = JSON.parse(text) as { data?: unknown };
    if (Array.isArray(data) && data.every((item) => item !== null && typeof item === 'object')) return data;
  } catch {
    // Some servers write NaN, which is no JSON.
  }
  throw unusable();
}

/** A list of numbers, or 32-bit floats in base64, which some servers send whatever they are asked for. */
function numbersOf(embedding: unknown): number[] {
  if (Array.isArray(embedding)) {
    if (embedding.every((value) => typeof value === 'number')) return embedding;
  } else if (typeof embedding === 'string') {
    const bytes = Buffer.from(embedding, 'base64');
    // A copy, since the bytes may begin at any place of their buffer. Node runs on little-endian machines only, as the format is.
    if (bytes.length % 4 === 0) return [...new Float32Array(new Uint8Array(bytes).buffer)];
  }
  throw unusable();
}

function unusable(): InvalidResponseDataError {
  return new InvalidResponseDataError({ data: null, message: 'An answer without usable vectors.' });
}
