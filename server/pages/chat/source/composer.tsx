import type { TargetedClipboardEvent, TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from './chat.ts';
import { problemOf } from './chat.ts';
import { Refused } from './service.ts';
import { direction, translate } from './texts.ts';
import type { ChatFile } from './types.ts';

/** As the server has it: see server/routes/chat/. */
const MAX_CHARACTERS = 32_000;
const MAX_FILES = 10;
const MAX_FILE_BYTES = 20 * 1024 * 1024;
const KINDS =
  'image/png,image/jpeg,image/webp,image/gif,application/pdf,text/plain,text/csv,text/markdown,.md,.txt,.csv';

/** A file that was chosen. */
interface Chosen {
  key: number;
  name: string;
  file?: ChatFile;
  problem?: string;
}

let keys = 0;

function problemOfFile(error: unknown, name: string): string {
  if (error instanceof Refused && error.until) return problemOf(error);
  return translate(error instanceof Refused && error.status === 413 ? 'tooLarge' : 'badFile', { name });
}

/** Where a message is written. Enter sends; with a touch keyboard it begins a line. */
export function Composer({ chat }: { chat: Chat }) {
  const [words, setWords] = useState('');
  const [chosen, setChosen] = useState<Chosen[]>([]);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const isTooLong = words.length > MAX_CHARACTERS;
  const files = chosen.flatMap(({ file }) => file ?? []);
  const isUploading = chosen.some(({ file, problem }) => !file && !problem);
  const maySend = (words.trim() !== '' || files.length > 0) && !isTooLong && !isUploading;

  useEffect(() => {
    const box = area.current;
    if (!box) return;
    box.style.height = 'auto';
    box.style.height = `${Math.min(box.scrollHeight, 200) + 2}px`;
  }, [words]);

  const send = () => {
    if (!maySend) return;
    chat.say(words.trim(), files);
    setWords('');
    setChosen([]);
    area.current?.focus();
  };
  const change = (key: number, with_: Partial<Chosen>) =>
    setChosen((all) => all.map((each) => (each.key === key ? { ...each, ...with_ } : each)));
  const add = (given: Iterable<File>) => {
    for (const file of [...given]) {
      keys += 1;
      const key = keys;
      const { name } = file;
      const isTooMany = chosen.length >= MAX_FILES;
      const problem = isTooMany
        ? translate('tooManyFiles')
        : file.size > MAX_FILE_BYTES
          ? translate('tooLarge', { name })
          : undefined;
      setChosen((all) => [...all, { key, name, ...(problem ? { problem } : {}) }]);
      if (problem) continue;
      chat.upload(file).then(
        (stored) => change(key, { file: stored }),
        (error) => change(key, { problem: problemOfFile(error, name) }),
      );
    }
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    const isEnter = event.key === 'Enter' && !event.shiftKey && !event.isComposing;
    if (!isEnter || matchMedia('(pointer: coarse)').matches) return;
    event.preventDefault();
    send();
  };
  const onPaste = (event: TargetedClipboardEvent<HTMLTextAreaElement>) => {
    const pasted = event.clipboardData?.files;
    if (!pasted?.length) return;
    event.preventDefault();
    add(pasted);
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        add(event.dataTransfer?.files ?? []);
      }}
    >
      {chosen.length > 0 && (
        <ul class="chosen">
          {chosen.map(({ key, name, file, problem }) => (
            <li key={key} class={problem ? 'problem' : ''}>
              <span dir="auto" role={problem ? 'alert' : undefined}>
                {problem ?? (file ? name : translate('uploading', { name }))}
              </span>
              <button
                type="button"
                aria-label={translate('remove', { name })}
                onClick={() => setChosen((all) => all.filter((each) => each.key !== key))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      {isTooLong && (
        <p class="problem" role="alert">
          {translate('tooLong', { count: words.length, limit: MAX_CHARACTERS })}
        </p>
      )}
      <div class="line">
        <button
          type="button"
          class="icon"
          aria-label={translate('attach')}
          title={translate('attach')}
          onClick={() => picker.current?.click()}
        >
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M8 12.5 14.5 6a3.2 3.2 0 0 1 4.5 4.5l-8 8a5 5 0 0 1-7-7L11.500 4" />
          </svg>
        </button>
        <input
          ref={picker}
          type="file"
          hidden
          multiple
          accept={KINDS}
          onChange={(event) => {
            add(event.currentTarget.files ?? []);
            event.currentTarget.value = '';
          }}
        />
        <textarea
          ref={area}
          rows={1}
          value={words}
          aria-label={translate('message')}
          placeholder={translate('writeHere')}
          dir={words === '' ? direction : 'auto'}
          enterkeyhint="send"
          onInput={(event) => setWords(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <button
          type="submit"
          class="icon send"
          aria-label={translate('send')}
          title={translate('send')}
          disabled={!maySend}
        >
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M4 12 20 4l-5 16-3.500-6.500z" />
          </svg>
        </button>
      </div>
    </form>
  );
}
