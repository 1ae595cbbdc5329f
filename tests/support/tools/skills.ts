import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { ZipFile } from 'yazl';
import type { components } from '../../../generated/api.ts';
import type { SeededWorkspace } from '../db/database.ts';
import type { TestApp } from '../http/app.ts';
import { poll } from '../poll.ts';

type Schemas = components['schemas'];

let made = 0;

/** A SKILL.md with this front matter, by default a name of its own and a description. */
export function skillMd(fields: string = `name: skill-${++made}\ndescription: Does one thing.`): string {
  return `---\n${fields}\n---\n\n# What to do\n\nOne thing.\n`;
}

/** An archive as a common tool packs it. A path that ends with `/` is an empty folder. */
export async function zipOf(
  files: Record<string, string | Buffer>,
  options: { compress?: boolean; forceZip64Format?: boolean; comment?: string } = {},
): Promise<Buffer> {
  const { compress = true, forceZip64Format = false, comment = '' } = options;
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(files)) {
    if (path.endsWith('/')) zip.addEmptyDirectory(path);
    else zip.addBuffer(Buffer.from(content), path, { compress, forceZip64Format });
  }
  zip.end({ forceZip64Format, comment });
  return buffer(zip.outputStream);
}

/** An entry of an archive, byte by byte. Absent fields get their correct values. */
export interface RawEntry {
  name: string | Buffer;
  data?: string | Buffer;
  method?: number;
  /** The bytes in the archive, in place of `data` (deflated or stored). */
  packed?: Buffer;
  flags?: number;
  crc?: number;
  size?: number;
  packedSize?: number;
  /** External attributes; the upper half is the Unix mode. */
  attributes?: number;
  extra?: Buffer;
  /** Fields of the local header that differ from the directory. */
  local?: Partial<Pick<RawEntry, 'name' | 'method' | 'flags' | 'crc' | 'size' | 'packedSize'>>;
  /** The offset of the entry in the directory. */
  offset?: number;
  /** The entry exists in the directory only. */
  directoryOnly?: boolean;
}

/** Fields of the end record that differ from the truth. */
export interface RawEnd {
  count?: number;
  disk?: number;
  directoryOffset?: number;
  commentLength?: number;
  /** Bytes before the end record. */
  before?: Buffer;
  /** Bytes after the end record. */
  after?: Buffer;
}

/** Packs a correct or broken archive byte by byte (PKWARE APPNOTE 4.3). */
export function rawZip(entries: readonly RawEntry[], end: RawEnd = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let length = 0;
  for (const entry of entries) {
    const data = Buffer.from(entry.data ?? '');
    const method = entry.method ?? 8;
    const packed = entry.packed ?? (method === 8 ? deflateRawSync(data) : data);
    const told = {
      name: entry.name,
      method,
      flags: entry.flags ?? 0x800,
      crc: entry.crc ?? crc32(data),
      size: entry.size ?? data.length,
      packedSize: entry.packedSize ?? packed.length,
    };
    const central = headerOf(told, entry.extra);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE((entry.attributes ?? 0) >>> 0, 6);
    tail.writeUInt32LE(entry.offset ?? length, 10);
    // Packed on Unix, by version 2.0.
    const made = Buffer.from([20, 3]);
    directory.push(Buffer.from('PK\x01\x02'), made, central.fixed, tail, central.name, central.extra);
    if (entry.directoryOnly) continue;
    const local = headerOf({ ...told, ...entry.local }, entry.extra);
    const written = [Buffer.from('PK\x03\x04'), local.fixed, local.name, local.extra, packed];
    parts.push(...written);
    length += Buffer.concat(written).length;
  }
  const list = Buffer.concat(directory);
  const last = Buffer.alloc(22);
  last.write('PK\x05\x06', 'latin1');
  last.writeUInt16LE(end.disk ?? 0, 4);
  last.writeUInt16LE(end.count ?? entries.length, 8);
  last.writeUInt16LE(end.count ?? entries.length, 10);
  last.writeUInt32LE(list.length, 12);
  last.writeUInt32LE(end.directoryOffset ?? length, 16);
  last.writeUInt16LE(end.commentLength ?? 0, 20);
  return Buffer.concat([...parts, list, end.before ?? Buffer.alloc(0), last, end.after ?? Buffer.alloc(0)]);
}

type Told = Required<Pick<RawEntry, 'name' | 'method' | 'flags' | 'crc' | 'size' | 'packedSize'>>;

/** The part that both headers of an entry share. */
function headerOf({ name, method, flags, crc, size, packedSize }: Told, extra: Buffer = Buffer.alloc(0)) {
  const bytes = Buffer.from(name);
  const fixed = Buffer.alloc(26);
  fixed.writeUInt16LE(20, 0);
  fixed.writeUInt16LE(flags, 2);
  fixed.writeUInt16LE(method, 4);
  fixed.writeUInt32LE(0x5a21_0000, 6);
  fixed.writeUInt32LE(crc, 10);
  fixed.writeUInt32LE(packedSize, 14);
  fixed.writeUInt32LE(size, 18);
  fixed.writeUInt16LE(bytes.length, 22);
  fixed.writeUInt16LE(extra.length, 24);
  return { fixed, name: bytes, extra };
}

/** Uploads a file as a skill. */
export function uploadSkill(app: TestApp, content: string | Buffer, name = 'skill.zip', key?: string) {
  return app.api('post', '/skills', key).attach('file', Buffer.from(content), name);
}

/** A new skill with a name of its own; `fields` are of its front matter. */
export async function makeSkill(
  app: TestApp,
  { fields, files = {}, key }: { fields?: string; files?: Record<string, string | Buffer>; key?: string } = {},
): Promise<Schemas['Skill']> {
  const created = await uploadSkill(app, await zipOf({ 'SKILL.md': skillMd(fields), ...files }), 'skill.zip', key);
  if (created.status !== 201) throw new Error(created.text);
  return created.body;
}

/** A link of a skill to an agent's draft. */
export async function linkSkill(
  app: TestApp,
  agentId: string,
  skillId: string,
  key?: string,
): Promise<Schemas['SkillLink']> {
  const linked = await app.api('post', `/agents/${agentId}/skills`, key).send({ skillPublicId: skillId });
  if (linked.status !== 201) throw new Error(linked.text);
  return linked.body;
}

/** Waits until the service has removed its temporary files. It does so after it has sent the response. */
export async function noTemporaryFiles(app: TestApp): Promise<void> {
  await poll(
    () => readdir(join(app.dataDir, 'tmp')).catch((): string[] => []),
    (names) => names.length === 0,
  );
}

/** A stored file of a skill; undefined when none has this path. */
export function storedSkillFile({ db, workspaceId }: SeededWorkspace, skillId: string, path: string) {
  return db
    .selectFrom('skill_files')
    .select(['path', 'size_bytes', 'binary', 'content'])
    .where('workspace_id', '=', workspaceId)
    .where('skill_id', '=', skillId)
    .where('path', '=', path)
    .executeTakeFirst();
}
