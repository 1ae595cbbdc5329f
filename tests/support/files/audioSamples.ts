/* Sound that is silent, in each format that agents listen to; small, and built as the formats' documents say. */

const ascii = (text: string) => Buffer.from(text, 'latin1');

/** PCM of a tenth of a second: 8 kHz, 16 bits, one channel. */
export function wav(samples = 800): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + 2 * samples, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(16_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(2 * samples, 40);
  return Buffer.concat([header, Buffer.alloc(2 * samples)]);
}

/** Frames of MPEG-1 layer III: 128 kbit/s, 44.1 kHz, 417 bytes each. */
export function mp3(frames = 4): Buffer {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb9000, 0);
  return Buffer.concat(Array<Buffer>(frames).fill(frame));
}

/** One page with the head of an Opus stream: RFC 3533 and RFC 7845. */
export function ogg(): Buffer {
  const head = Buffer.concat([ascii('OpusHead'), Buffer.from([1, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0])]);
  const page = Buffer.alloc(27);
  page.write('OggS', 0, 'latin1');
  page[5] = 2;
  page[26] = 1;
  return Buffer.concat([page, Buffer.from([head.length]), head]);
}

/** The mark and an empty STREAMINFO: RFC 9639. */
export function flac(): Buffer {
  return Buffer.concat([ascii('fLaC'), Buffer.from([0x80, 0, 0, 34]), Buffer.alloc(34)]);
}

/** A box of ISO 14496-12. */
export function box(name: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** An MP4 file with tracks of these kinds (`soun`, `vide`), its list of tracks at the end, where recorders put it. */
export function mp4(tracks: readonly string[], brand = 'M4A '): Buffer {
  const handler = (kind: string) => box('hdlr', Buffer.alloc(8), ascii(kind), Buffer.alloc(13));
  const list = tracks.map((kind) => box('trak', box('tkhd', Buffer.alloc(84)), box('mdia', handler(kind))));
  const brands = Buffer.concat([ascii(brand), Buffer.alloc(4), ascii('isom')]);
  return Buffer.concat([box('ftyp', brands), box('mdat', Buffer.alloc(64)), box('moov', ...list)]);
}

/** An element of EBML; `size` of ones alone when its length is left open, as live recorders do. */
export function element(id: string, content: Buffer, size?: 'open'): Buffer {
  const length = Buffer.alloc(8, 0xff);
  length[0] = 1;
  if (size !== 'open') {
    length.writeBigUInt64BE(BigInt(content.length));
    length[0] = 1;
  }
  return Buffer.concat([Buffer.from(id, 'hex'), length, content]);
}

/** A WebM file with tracks of these types (1 = picture, 2 = sound) and one cluster. */
export function webm(tracks: readonly number[]): Buffer {
  const head = element('1a45dfa3', Buffer.concat([element('4286', Buffer.from([1])), element('4282', ascii('webm'))]));
  const entries = tracks.map((type) =>
    element('ae', Buffer.concat([element('d7', Buffer.from([1])), element('83', Buffer.from([type]))])),
  );
  const cluster = element('1f43b675', Buffer.alloc(64), 'open');
  const content = Buffer.concat([
    element('1549a966', Buffer.alloc(16)),
    element('1654ae6b', Buffer.concat(entries)),
    cluster,
  ]);
  return Buffer.concat([head, element('18538067', content, 'open')]);
}
