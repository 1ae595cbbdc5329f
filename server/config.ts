import { domainNameOf } from '../core/domainName.ts';
import { isNameServer } from '../core/outgoing/names.ts';
import { parseSecretKeys } from '../core/secrets.ts';
import { type ChannelSettings, channelSettingsFromEnv } from '../integrations/channels/settings.ts';
import { type MailSettings, mailSettingsFromEnv } from '../integrations/mail/settings.ts';
import { type PaymentSettings, paymentSettingsFromEnv } from '../integrations/payments/settings.ts';
import { readStorageUrl, type S3Settings } from '../integrations/storage/s3.ts';
import { type ToolkitSettings, toolkitSettingsFromEnv } from '../integrations/toolkits/settings.ts';
import { type WebSearchSettings, webSearchSettingsFromEnv } from '../integrations/webSearch/settings.ts';
import { type ModelSettings, modelSettingsFromEnv } from '../runtime/models/settings.ts';

/** Everything the service reads from its environment, checked once at start. */
export interface Config {
  host: string;
  port: number;
  /** The port of `/metrics`, which is then on no other; absent: `port`. */
  metricsPort?: number | undefined;
  /** Where others reach the service, without a slash at its end; absent: at the address that it listens on. */
  publicUrl?: string | undefined;
  /** The domain below which each hub has its subdomain, in lower case; absent: hubs are at `/hub/<subdomain>` of the service. */
  hubDomain?: string | undefined;
  /** Absent: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | undefined;
  /** Past the pooler that `databaseUrl` leads to; absent: `databaseUrl` leads to the database itself. */
  databaseDirectUrl: string | undefined;
  /** Whether statements are prepared by name; a pooler of transactions may not keep them. */
  databasePrepare: boolean;
  /** Whether the database is a coordinator of Citus. */
  databaseCitus: boolean;
  dataDir: string;
  /** How long a start waits for the database of `databaseUrl`. */
  databaseWaitSeconds: number;
  /** How long requests are still served after SIGTERM, while load balancers see that the service is not ready. */
  drainSeconds: number;
  /** Connections a pool may open. */
  poolSize: number;
  /** Background turns (automations, follow-ups, continued conversations) at a time in this process. */
  backgroundTurns: number;
  /** Days for which the steps of a turn are kept. */
  keepStepsDays: number;
  /** Days for which the executions of automations are kept. */
  keepExecutionsDays: number;
  /** Requests a minute and key; 0 = no limit. */
  rateLimit: number;
  allowPrivateNetwork: boolean;
  /** Proxies in front of the service that say in `X-Forwarded-For` whom they were called by. */
  trustedProxies: number;
  /** The name servers that are asked for the addresses of names that workspaces choose; empty: those of the machine. */
  nameServers: readonly string[];
  /** Checks every answer against the document before it is sent; a mismatch is a 500. */
  validateResponses: boolean;
  logLevel: string;
  models: ModelSettings;
  toolkits: ToolkitSettings;
  channels: ChannelSettings;
  webSearch: WebSearchSettings;
  payments: PaymentSettings;
  /** How mails leave the service; without an SMTP server they are files in the folder `mails` of `dataDir`. */
  mail: MailSettings;
  /** Where uploaded files are stored; absent: the folder `files` of `dataDir`. */
  storage: S3Settings | undefined;
  /** Keys that encrypt stored credentials, the present one first; empty: the key file of `dataDir`. */
  secretKeys: readonly Buffer[];
  /** Which part of the work this process does: takes requests, runs background jobs, or both. */
  role: 'all' | 'api' | 'worker';
}

function integer(env: NodeJS.ProcessEnv, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new Error(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}.`);
  }
  return value;
}

function flag(env: NodeJS.ProcessEnv, name: string, fallback = false): boolean {
  const text = env[name] ?? '';
  if (text === '') return fallback;
  if (text === 'false') return false;
  if (text === 'true') return true;
  throw new Error(`${name} must be true or false, not ${JSON.stringify(text)}.`);
}

/** `GUILDHALL_NAME_SERVERS`, empty when it is not set. Throws when one is no address. */
export function nameServersOf(env: NodeJS.ProcessEnv): string[] {
  const servers = (env.GUILDHALL_NAME_SERVERS ?? '').split(',').map((each) => each.trim());
  const given = servers.filter((each) => each !== '');
  if (given.every(isNameServer)) return given;
  throw new Error(
    'GUILDHALL_NAME_SERVERS must be IP addresses such as 10.0.0.2 or 10.0.0.2:5353, separated by commas.',
  );
}

/** `GUILDHALL_PUBLIC_URL`, undefined when it is not set. Throws when it is no address. */
export function publicUrlOf(env: NodeJS.ProcessEnv): string | undefined {
  const text = env.GUILDHALL_PUBLIC_URL?.trim() ?? '';
  if (text === '') return undefined;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new Error('GUILDHALL_PUBLIC_URL must be an address such as https://agents.example.com.');
  }
  return url.href.replace(/\/+$/, '');
}

/** `GUILDHALL_HUB_DOMAIN` in lower case, undefined when it is not set. Throws when it is no domain. */
export function hubDomainOf(env: NodeJS.ProcessEnv): string | undefined {
  const text = env.GUILDHALL_HUB_DOMAIN?.trim() ?? '';
  if (text === '') return undefined;
  const domain = domainNameOf(text);
  if (domain) return domain;
  throw new Error('GUILDHALL_HUB_DOMAIN must be a domain such as hubs.example.com, without scheme, port or path.');
}

/**
 * The address of a service that listens on `host` and `port`, as a client on the same machine can call it: a service that listens on
 * every address (`0.0.0.0` or `::`, as in a container) is reached on that of the machine itself.
 */
export function localOrigin(host: string, port: number): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

const ROLES = ['all', 'api', 'worker'] as const;

function role(env: NodeJS.ProcessEnv): Config['role'] {
  const text = env.GUILDHALL_ROLE || 'all';
  const found = ROLES.find((each) => each === text);
  if (!found) throw new Error(`GUILDHALL_ROLE must be one of ${ROLES.join(', ')}.`);
  if (found !== 'all' && !env.DATABASE_URL)
    throw new Error(`GUILDHALL_ROLE=${found} needs DATABASE_URL: the embedded PostgreSQL is for one process.`);
  return found;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** `DATABASE_URL`, undefined when it is not set. Throws when it is no address of a PostgreSQL; the message does not repeat it. */
export function databaseUrlOf(env: NodeJS.ProcessEnv): string | undefined {
  return postgresUrl(env, 'DATABASE_URL');
}

/** `GUILDHALL_DATABASE_DIRECT_URL`, as `databaseUrlOf` reads `DATABASE_URL`. Throws without a `DATABASE_URL`. */
export function directUrlOf(env: NodeJS.ProcessEnv): string | undefined {
  const url = postgresUrl(env, 'GUILDHALL_DATABASE_DIRECT_URL');
  if (url !== undefined && !env.DATABASE_URL)
    throw new Error('GUILDHALL_DATABASE_DIRECT_URL needs DATABASE_URL, the address of the pooler.');
  return url;
}

/** Whether the database is a coordinator of Citus (`GUILDHALL_DATABASE_CITUS`). */
export function isCitus(env: NodeJS.ProcessEnv): boolean {
  return flag(env, 'GUILDHALL_DATABASE_CITUS');
}

function postgresUrl(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const url = env[name] || undefined;
  if (url !== undefined && !/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new Error(`${name} must be an address such as postgres://user:password@host:5432/database.`);
  }
  return url;
}

/** Reads the configuration. Throws an Error that names the variable and its valid values when a value is not valid. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const logLevel = env.GUILDHALL_LOG_LEVEL || 'info';
  if (!LOG_LEVELS.includes(logLevel)) throw new Error(`GUILDHALL_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')}.`);
  return {
    host: env.HOST || '127.0.0.1',
    port: integer(env, 'PORT', 3000, 0, 65535),
    metricsPort: env.GUILDHALL_METRICS_PORT ? integer(env, 'GUILDHALL_METRICS_PORT', 0, 1, 65535) : undefined,
    publicUrl: publicUrlOf(env),
    hubDomain: hubDomainOf(env),
    databaseUrl: databaseUrlOf(env),
    databaseDirectUrl: directUrlOf(env),
    databasePrepare: flag(env, 'GUILDHALL_DATABASE_PREPARE', true),
    databaseCitus: isCitus(env),
    dataDir: env.GUILDHALL_DATA_DIR || './data',
    databaseWaitSeconds: integer(env, 'GUILDHALL_DATABASE_WAIT_SECONDS', 60, 0, 3600),
    drainSeconds: integer(env, 'GUILDHALL_DRAIN_SECONDS', 5, 0, 300),
    poolSize: integer(env, 'GUILDHALL_POOL_SIZE', 16, 2, 500),
    backgroundTurns: integer(env, 'GUILDHALL_BACKGROUND_TURNS', 64, 1, 1000),
    keepStepsDays: integer(env, 'GUILDHALL_KEEP_STEPS_DAYS', 90, 1, 36_500),
    keepExecutionsDays: integer(env, 'GUILDHALL_KEEP_EXECUTIONS_DAYS', 90, 1, 36_500),
    rateLimit: integer(env, 'GUILDHALL_RATE_LIMIT', 0, 0, 1_000_000),
    allowPrivateNetwork: flag(env, 'GUILDHALL_ALLOW_PRIVATE_NETWORK'),
    trustedProxies: integer(env, 'GUILDHALL_TRUSTED_PROXIES', 0, 0, 10),
    nameServers: nameServersOf(env),
    validateResponses: flag(env, 'GUILDHALL_VALIDATE_RESPONSES'),
    logLevel,
    models: modelSettingsFromEnv(env),
    toolkits: toolkitSettingsFromEnv(env),
    channels: channelSettingsFromEnv(env),
    webSearch: webSearchSettingsFromEnv(env),
    mail: mailSettingsFromEnv(env),
    payments: paymentSettingsFromEnv(env),
    storage: env.GUILDHALL_STORAGE_URL ? readStorageUrl(env.GUILDHALL_STORAGE_URL, env) : undefined,
    secretKeys: parseSecretKeys(env.GUILDHALL_SECRETS_KEY ?? ''),
    role: role(env),
  };
}
