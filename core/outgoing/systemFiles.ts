import { readFileSync, statSync } from 'node:fs';
import net from 'node:net';

/** Milliseconds for which a file is taken to be unchanged. */
const RECHECK_MS = 1000;

/** A small file of the system, which is read again when it changes. A file that cannot be read is empty. */
class SystemFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  #version = '';
  #checkedAt = Number.NEGATIVE_INFINITY;
  #content: T;

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path;
    this.#parse = parse;
    this.#content = parse('');
  }

  /** Read synchronously: files have two threads in this process, and a name must not wait for a large file. */
  get content(): T {
    const now = performance.now();
    if (now - this.#checkedAt < RECHECK_MS) return this.#content;
    this.#checkedAt = now;
    const version = versionOf(this.#path);
    if (version === this.#version) return this.#content;
    this.#version = version;
    this.#content = this.#parse(version === '' ? '' : readText(this.#path));
    return this.#content;
  }
}

/** Changes with the file; '' when there is none. */
function versionOf(path: string): string {
  try {
    const { ino, mtimeMs, size } = statSync(path);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return '';
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function linesOf(text: string, comment: RegExp): string[][] {
  return text.split('\n').map((line) => line.replace(comment, '').trim().split(/\s+/));
}

/** The addresses of each name in a hosts file (hosts(5)), names in lower case. */
function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const hosts = new Map<string, string[]>();
  for (const [address = '', ...names] of linesOf(text, /#.*/)) {
    if (net.isIP(address) === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const known = hosts.get(name);
      if (known === undefined) hosts.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return hosts;
}

/** How short names are completed (resolv.conf(5)). */
interface SearchRules {
  /** Domains that are appended to a name. */
  domains: readonly string[];
  /** A name with fewer dots is completed before it is tried as it is. */
  ndots: number;
}

function parseSearchRules(text: string): SearchRules {
  let domains: string[] = [];
  let ndots = 1;
  for (const [keyword, ...values] of linesOf(text, /^\s*[#;].*/)) {
    if (keyword === 'search' || keyword === 'domain') domains = values.map((each) => each.replace(/\.$/, ''));
    if (keyword !== 'options') continue;
    const value = values.findLast((each) => /^ndots:\d+$/.test(each));
    // The C library takes 15 for larger values.
    if (value !== undefined) ndots = Math.min(Number(value.slice('ndots:'.length)), 15);
  }
  return { domains: domains.filter((each) => each !== ''), ndots };
}

/** The files with which a machine resolves names, without its name servers. */
export class SystemNames {
  readonly #hosts: SystemFile<ReadonlyMap<string, readonly string[]>>;
  readonly #rules: SystemFile<SearchRules>;

  constructor({ hostsFile = '/etc/hosts', resolvConf = '/etc/resolv.conf' } = {}) {
    this.#hosts = new SystemFile(hostsFile, parseHosts);
    this.#rules = new SystemFile(resolvConf, parseSearchRules);
  }

  /**
   * The addresses that this machine itself knows for a name: those of its hosts file; loopback for `localhost` and names below it, which
   * are never asked for elsewhere (RFC 6761, 6.3). Undefined for all other names.
   */
  addressesOf(host: string): readonly string[] | undefined {
    const name = host.toLowerCase().replace(/\.$/, '');
    const listed = this.#hosts.content.get(name);
    if (listed !== undefined) return listed;
    return name === 'localhost' || name.endsWith('.localhost') ? ['127.0.0.1', '::1'] : undefined;
  }

  /** The full names to ask for, in their order. */
  candidates(host: string): string[] {
    if (host.endsWith('.')) return [host.slice(0, -1)];
    const { domains, ndots } = this.#rules.content;
    const completed = domains.map((domain) => `${host}.${domain}`);
    const isLong = host.split('.').length > ndots;
    return isLong ? [host, ...completed] : [...completed, host];
  }
}
