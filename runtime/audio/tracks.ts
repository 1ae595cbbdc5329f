/**
 * Whether an MP4 or WebM file has sound and no picture, as its own list of tracks says. Both formats hold films as well, under the
 * same magic number. False when the list cannot be found.
 */
export function hasOnlySound(bytes: Uint8Array, mediaType: string): boolean {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tracks = new Set(mediaType === 'audio/webm' ? webmTracks(data) : mp4Tracks(data));
  return tracks.has('sound') && !tracks.has('picture');
}

type Track = 'sound' | 'picture' | 'other';

/** A part of a file that has a name and a place. */
interface Part {
  name: string;
  from: number;
  to: number;
}

/** ISO/IEC 14496-12, 4.2: four bytes of length, four of name; length 1 = eight bytes more, 0 = to the end. */
function* boxes(data: Buffer, { from, to }: Omit<Part, 'name'>): Generator<Part> {
  for (let at = from; at + 8 <= to; ) {
    let size = data.readUInt32BE(at);
    let head = 8;
    if (size === 1 && at + 16 <= to) {
      size = Number(data.readBigUInt64BE(at + 8));
      head = 16;
    } else if (size === 0) size = to - at;
    if (size < head) return;
    yield { name: data.toString('latin1', at + 4, at + 8), from: at + head, to: Math.min(at + size, to) };
    at += size;
  }
}

/** Parts looked at in one file: what has more of them before its tracks was made to waste time. */
const MOST_PARTS = 10_000;

/** The parts under a path of names, each within the one before it. Nothing behind a part called `end` is looked at. */
function partsAt(data: Buffer, walk: typeof boxes, path: readonly string[], end?: string): Part[] {
  let left = MOST_PARTS;
  let level: Part[] = [{ name: '', from: 0, to: data.length }];
  for (const name of path) {
    const found: Part[] = [];
    for (const whole of level) {
      for (const part of walk(data, whole)) {
        left -= 1;
        if (left < 0 || part.name === end) break;
        if (part.name === name) found.push(part);
      }
    }
    level = found;
  }
  return level;
}

/** 14496-12, 8.4.3: a track's kind stands behind version, flags and four bytes of zero. */
function mp4Tracks(data: Buffer): Track[] {
  return partsAt(data, boxes, ['moov', 'trak', 'mdia', 'hdlr']).map(({ from, to }) => {
    const handler = data.toString('latin1', from + 8, Math.min(from + 12, to));
    if (handler === 'soun') return 'sound';
    return handler === 'vide' ? 'picture' : 'other';
  });
}

/** RFC 8794, 4: a number of one to eight bytes; the zero bits in front of its first one bit say of how many. */
function variableInteger(data: Buffer, at: number, to: number): { length: number; bits: bigint } | undefined {
  const first = at < to ? (data[at] ?? 0) : 0;
  if (first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > to) return undefined;
  let bits = 0n;
  for (const byte of data.subarray(at, at + length)) bits = (bits << 8n) | BigInt(byte);
  return { length, bits };
}

/** RFC 8794, 6: an id, a length, the content. A length of ones alone is not known: to the end, as live recordings have it. */
function* elements(data: Buffer, { from, to }: Omit<Part, 'name'>): Generator<Part> {
  for (let at = from; at < to; ) {
    const id = variableInteger(data, at, to);
    const size = id && variableInteger(data, at + id.length, to);
    if (!id || !size) return;
    const start = at + id.length + size.length;
    const marker = 1n << BigInt(7 * size.length);
    const length = size.bits ^ marker;
    const end = length === marker - 1n ? to : Math.min(to, start + Number(length));
    yield { name: id.bits.toString(16), from: start, to: end };
    at = end;
  }
}

/** RFC 9559: Segment, Tracks, TrackEntry, TrackType; the tracks stand before the first Cluster. */
const TRACK_TYPE = ['18538067', '1654ae6b', 'ae', '83'];
const CLUSTER = '1f43b675';

function webmTracks(data: Buffer): Track[] {
  return partsAt(data, elements, TRACK_TYPE, CLUSTER).map(({ from }) => {
    const type = data[from];
    if (type === 2) return 'sound';
    return type === 1 ? 'picture' : 'other';
  });
}
