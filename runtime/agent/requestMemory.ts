import { LRUCache } from 'lru-cache';
import { lruCache } from '../../core/lruCache.ts';
import type { ModelTool } from '../models/call.ts';
import { sizeOf } from './requestChunks.ts';

/** A stored request of a conversation: later ones begin like it. */
export interface KnownRequest {
  turnId: string;
  seq: number;
  agentId: string;
  /** The Monday of the turn's week. Steps of one week are removed together. */
  week: string;
  system: string;
  tools: string;
  /** The digests of its messages, one after the other. */
  messages: Buffer;
  /** How many requests have to be read to have it whole. */
  depth: number;
}

/** What a request of an agent began with, and its digests in hexadecimal. */
export interface KnownBeginning {
  system: string;
  tools: readonly ModelTool[];
  digests: { system: string; tools: string };
}

/** UTF-16 units of the beginnings that a process remembers, about. Schemas count whole: a list of tools may be kept by this alone. */
const MAX_BEGINNINGS = 8 * 1024 * 1024;
/** Bytes of digests that a process remembers, and what an entry takes beside them, about. */
const MAX_BYTES = 16 * 1024 * 1024;
const ENTRY_BYTES = 600;
const MAX_PARTS = 20_000;

/**
 * What this process knows of requests that are stored: the last one of each conversation, and the parts that are the agents' own. What is
 * forgotten is stored again.
 */
export class RequestMemory {
  readonly #last = new LRUCache<string, KnownRequest>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ messages }) => messages.length + ENTRY_BYTES,
  });
  readonly #beginnings = new LRUCache<string, KnownBeginning>({
    maxSize: MAX_BEGINNINGS,
    sizeCalculation: ({ system, tools }) => system.length + sizeOf(tools) + ENTRY_BYTES,
  });
  readonly #parts = lruCache<string, true>(MAX_PARTS);

  lastOf(conversationId: string): KnownRequest | undefined {
    return this.#last.get(conversationId);
  }

  remember(conversationId: string, request: KnownRequest): void {
    this.#last.set(conversationId, request);
  }

  /** What the latest request of an agent began with. */
  beginningOf(agent: string): KnownBeginning | undefined {
    return this.#beginnings.get(agent);
  }

  rememberBeginning(agent: string, beginning: KnownBeginning): void {
    this.#beginnings.set(agent, beginning);
  }

  hasPart(key: string): boolean {
    return this.#parts.has(key);
  }

  rememberPart(key: string): void {
    this.#parts.set(key, true);
  }
}
