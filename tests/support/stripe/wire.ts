import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fields of a form whose names have brackets: `items[0][price]=a` is `{items: {0: {price: 'a'}}}`. Values are texts. */
export type Form = { [name: string]: string | Form };

/** An object as the API sends it. */
export type Thing = { id: string; object: string; [field: string]: unknown };

/** A request as the stand-in got it. */
export interface StripeRequest {
  method: string;
  /** Without `/v1`. */
  path: string;
  query: Form;
  form: Form;
  account: string | null;
  idempotencyKey: string | null;
  version: string | null;
}

/** What goes wrong with the next requests that fit. */
export interface StripeFault {
  method?: 'GET' | 'POST' | 'DELETE';
  path: RegExp;
  /** How many requests; default 1. */
  times?: number;
  /** Requests that fit and go well before; default 0. */
  after?: number;
  /**
   * `error`: 500 without an effect. `refused`: 400. `limited`: 429. `lost`: it has its effect, and the connection ends without an answer.
   * `silent`: no effect and no answer.
   */
  how: 'error' | 'refused' | 'limited' | 'lost' | 'silent';
}

/** An error of the API. */
export class StripeRefusal extends Error {
  readonly status: number;
  readonly body: { type: string; code?: string; message: string };

  constructor(status: number, body: { type?: string; code?: string; message: string }) {
    super(body.message);
    this.status = status;
    this.body = { type: 'invalid_request_error', ...body };
  }
}

/** Whatever the form leaves out, or gives as a text. */
export const text = (value: string | Form | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
export const whole = (value: string | Form | undefined): number | null => (text(value) === null ? null : Number(value));
export const part = (value: string | Form | undefined): Form => (typeof value === 'object' ? value : {});
export const parts = (value: string | Form | undefined): Form[] => Object.values(part(value)).map(part);
export const texts = (value: string | Form | undefined): string[] =>
  Object.values(part(value)).filter((each) => typeof each === 'string');

/** Reads a form or a query. */
export function readForm(encoded: string): Form {
  const form: Form = {};
  for (const [name, value] of new URLSearchParams(encoded)) {
    const path = [...name.matchAll(/[^[\]]+/g)].map(([key]) => key);
    let place = form;
    for (const key of path.slice(0, -1)) {
      const next = place[key];
      if (typeof next === 'object') place = next;
      else {
        const made: Form = {};
        place[key] = made;
        place = made;
      }
    }
    const last = path.at(-1) ?? '';
    place[last === '' ? String(Object.keys(place).length) : last] = value;
  }
  return form;
}

/** What the stand-in's HTTP does before and after an endpoint. */
export interface WireOptions {
  key: string;
  /** Whether a request may be made for the account. */
  hasAccount(account: string): boolean;
  answer(request: StripeRequest): unknown;
}

/** Serves endpoints as Stripe does: keys, accounts, forms, idempotency keys, errors. */
export async function serveStripe({ key, hasAccount, answer }: WireOptions) {
  const requests: StripeRequest[] = [];
  const faults: StripeFault[] = [];
  const answers = new Map<string, { digest: string; status: number; body: unknown }>();

  function faultFor({ method, path }: StripeRequest): StripeFault | undefined {
    const fault = faults.find((each) => (each.method ?? method) === method && each.path.test(path));
    if (!fault) return undefined;
    if ((fault.after ?? 0) > 0) {
      fault.after = (fault.after ?? 0) - 1;
      return undefined;
    }
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) faults.splice(faults.indexOf(fault), 1);
    return fault;
  }

  /** The answer to a request, and to its repetitions: https://docs.stripe.com/api/idempotent_requests */
  function respond(request: StripeRequest): { status: number; body: unknown; replayed?: boolean } {
    const { idempotencyKey, account, method, path, form } = request;
    const digest = JSON.stringify([method, path, form]);
    const id = `${account ?? ''} ${idempotencyKey}`;
    const known = idempotencyKey === null ? undefined : answers.get(id);
    if (known && known.digest !== digest) {
      return refused(
        new StripeRefusal(400, {
          type: 'idempotency_error',
          message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
        }),
      );
    }
    if (known) return { ...known, replayed: true };
    let response: { status: number; body: unknown };
    try {
      // As it goes over the wire: a later change of the object is not one of the answer.
      response = { status: 200, body: JSON.parse(JSON.stringify(answer(request))) };
    } catch (error) {
      if (!(error instanceof StripeRefusal)) throw error;
      response = refused(error);
    }
    if (idempotencyKey !== null && method === 'POST' && response.status !== 400 && response.status !== 404)
      answers.set(id, { digest, ...response });
    return response;
  }

  const refused = ({ status, body }: StripeRefusal) => ({ status, body: { error: body } });

  function handle(message: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const url = new URL(message.url ?? '/', 'http://stripe');
    const one = (name: string) => message.headers[name]?.toString() ?? null;
    const isForm = (message.headers['content-type'] ?? '').startsWith('application/x-www-form-urlencoded');
    const request: StripeRequest = {
      method: message.method ?? 'GET',
      path: url.pathname.replace(/^\/v1/, ''),
      query: readForm(url.search.slice(1)),
      form: isForm ? readForm(body.toString()) : {},
      account: one('stripe-account'),
      idempotencyKey: one('idempotency-key'),
      version: one('stripe-version'),
    };
    requests.push(request);
    const send = (status: number, content: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        'request-id': `req_${requests.length}`,
        ...headers,
      });
      response.end(JSON.stringify(content));
    };
    if (one('authorization') !== `Bearer ${key}`) {
      send(401, {
        error: { type: 'invalid_request_error', message: `Invalid API Key provided: ${one('authorization')}` },
      });
      return;
    }
    if (request.account !== null && !hasAccount(request.account)) {
      send(403, { error: { type: 'invalid_request_error', code: 'account_invalid', message: 'No such account.' } });
      return;
    }
    const fault = faultFor(request);
    // An error of Stripe's own is repeated to the same key, so its answer says that a retry is of no use.
    if (fault?.how === 'error')
      send(500, { error: { type: 'api_error', message: 'Something failed.' } }, { 'stripe-should-retry': 'false' });
    else if (fault?.how === 'refused')
      send(400, { error: { type: 'invalid_request_error', message: 'This may not be made.' } });
    else if (fault?.how === 'limited')
      send(
        429,
        { error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests.' } },
        { 'stripe-should-retry': 'false' },
      );
    else if (fault?.how === 'silent') return;
    else {
      const { status, body: content, replayed } = respond(request);
      if (fault?.how === 'lost') response.destroy();
      else send(status, content, replayed ? { 'idempotent-replayed': 'true' } : {});
    }
  }

  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => handle(message, response, Buffer.concat(chunks)));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** Lets requests go wrong. */
    fail(...more: StripeFault[]): void {
      faults.push(...more.map((each) => ({ ...each })));
    },
    async close(): Promise<void> {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}
