import type { Client } from '@modelcontextprotocol/client';
import { shorten } from '../../core/text.ts';
import { statedText } from './content.ts';
import { METHOD_NOT_FOUND } from './failures.ts';

const MAX_CHARACTERS = 1000;

class NotOffered extends Error {
  readonly code = METHOD_NOT_FOUND;
}

/** What a server asks for, in a few words for the model. */
export function questionText(method: unknown, params: unknown): string {
  const { message } = Object(params) as { message?: unknown };
  switch (method) {
    case 'elicitation/create':
      return typeof message === 'string' && message.trim() !== ''
        ? `an answer of a person to “${shorten(message.trim(), MAX_CHARACTERS)}”`
        : 'an answer of a person';
    case 'sampling/createMessage':
      return 'an answer of a language model';
    case 'roots/list':
      return 'a list of folders';
    default:
      return shorten(statedText(method), 100);
  }
}

/** What the model reads of questions that were refused. */
export function refusalNote(asked: readonly string[]): string {
  if (asked.length === 0) return '';
  const things = [...new Set(asked)].join('; ');
  return (
    `[The server asked for ${things}. That was refused, because nobody can answer a server during a call. If the result is not complete, ask ` +
    'the user in the conversation, and call the tool again with what it needs, if it takes that as an input.]'
  );
}

/** The answers of a client that declares no capabilities, to a server that asks all the same. */
export interface Questions {
  /** Calls `listener` with each question until the returned function is called. */
  listen(listener: ((asked: string) => void) | undefined): () => void;
}

/**
 * Answers the requests of a server (revisions 2025-11-25 and before): a question to a person is declined, everything else is not offered.
 */
export function answerQuestions(client: Client): Questions {
  const listeners = new Set<(asked: string) => void>();
  client.fallbackRequestHandler = async ({ method, params }) => {
    for (const listener of listeners) listener(questionText(method, params));
    if (method === 'elicitation/create') return { action: 'decline' };
    throw new NotOffered('This client does not offer it.');
  };
  return {
    listen(listener) {
      if (!listener) return () => undefined;
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
