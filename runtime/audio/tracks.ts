/**
 * Whether an MP4 or WebM file has sound tracks and no picture track, by its own list of tracks. The magic number does not say: films
 * begin with the same bytes. False when the file has no list.
 */
export function hasOnlySound(bytes: Uint8Array, mediaType: string): boolean {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tracks = new Set(mediaType === 'audio/webm' ? webmTracks(data) : mp4Tracks(data));
  return tracks.has('sound') && !tracks.has('picture');
}

type Track = 'sound' | 'picture' | 'other';

/** A named part of a file: an MP4 box or a WebM element. `from` and `to` bound its content. */
interface Part {
  name: string;
  from: number;
  to: number;
}

/** ISO/IEC 14496-12, 4.2: four bytes of length, four of name. Length 1: eight more bytes hold the length. Length 0: up to the end. */
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

/** Parts that are read in one file. Only a file that is made to waste time has more of them before its tracks. */
const MAX_PARTS = 10_000;

/** The parts at a path of names, each inside the one before it. Reading stops at a part with the name `end`. */
function partsAt(data: Buffer, walk: typeof boxes, path: readonly string[], end?: string): Part[] {
  let left = MAX_PARTS;
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

/** ISO/IEC 14496-12, 8.4.3: the kind of a track follows version, flags and four zero bytes. */
function mp4Tracks(data: Buffer): Track[] {
  return partsAt(data, boxes, ['moov', 'trak', 'mdia', 'hdlr']).map(({ from, to }) => {
    const handler = data.toString('latin1', from + 8, Math.min(from + 12, to));
    if (handler === 'soun') return 'sound';
    return handler === 'vide' ? 'picture' : 'other';
  });
}

/** RFC 8794, 4: a number of one to eight bytes. The count of leading zero bits gives its length. */
function variableInteger(data: Buffer, at: number, to: number): { length: number; bits: bigint } | undefined {
  const first = at < to ? (data[at] ?? 0) : 0;
  if (first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > to) return undefined;
  let bits = 0n;
  for (const byte of data.subarray(at, at + length)) bits = (bits << 8n) | BigInt(byte);
  return { length, bits };
}

/** RFC 8794, 6: an id, a length, the content. A length of only ones is unknown: up to the end, as in live recordings. */
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

/** RFC 9559: Segment, Tracks, TrackEntry, TrackType. The tracks come before the first Cluster. */
const TRACK_TYPE = ['18538067', '1654ae6b', 'ae', '83'];
const CLUSTER = '1f43b675';

function webmTracks(data: Buffer): Track[] {
  return partsAt(data, elements, TRACK_TYPE, CLUSTER).map(({ from }) => {
    const type = data[from];
    if (type === 2) return 'sound';
    return type === 1 ? 'picture' : 'other';
  });
}
