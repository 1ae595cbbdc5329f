import { memo } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import type { Chat } from './chat.ts';
import { Component, type Say } from './components.tsx';
import { Markdown } from './markdown.tsx';
import { timeText, translate } from './texts.ts';
import type { Approval, ChatFile, ChatMessage, Outgoing } from './types.ts';

const sizeText = (bytes: number) =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;

/** A file of a message: a picture is shown, everything else can be saved. */
function FileView({ chat, file }: { chat: Chat; file: ChatFile }) {
  const [address, setAddress] = useState<string>();
  const isPicture = file.mediaType.startsWith('image/');
  useEffect(() => {
    if (!isPicture) return;
    let made: string | undefined;
    let isGone = false;
    chat.readFile(file.id).then(
      (blob) => {
        if (isGone) return;
        made = URL.createObjectURL(blob);
        setAddress(made);
      },
      () => {},
    );
    return () => {
      isGone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [chat, file.id, isPicture]);
  const save = async () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await chat.readFile(file.id));
    link.download = file.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  if (isPicture && address) return <img class="picture" src={address} alt={file.name} />;
  return (
    <button type="button" class="file" onClick={() => void save().catch(() => {})}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M6 2h8l5 5v15H6zM14 2v5h5" />
      </svg>
      <span dir="auto">{file.name}</span>
      <small>{sizeText(file.sizeBytes)}</small>
    </button>
  );
}

function Files({ chat, files }: { chat: Chat; files: readonly ChatFile[] }) {
  if (files.length === 0) return null;
  return (
    <div class="files">
      {files.map((file) => (
        <FileView key={file.id} chat={chat} file={file} />
      ))}
    </div>
  );
}

/** A stored message. `say`: what its buttons do; undefined when they rest. */
export const Message = memo(function Message({
  chat,
  message,
  title,
  say,
}: {
  chat: Chat;
  message: ChatMessage;
  title: string;
  say: Say;
}) {
  const { role, text: words, ui, files, isByPerson, audio, sentAt } = message;
  const who = role === 'user' ? translate('you') : isByPerson ? translate('person') : title;
  const when = new Date(sentAt);
  return (
    <li class={`message ${role}`}>
      <span class={isByPerson ? 'who' : 'hidden'}>{who}</span>
      <Files chat={chat} files={files} />
      {words !== '' &&
        (role === 'user' ? (
          <p class="bubble plain" dir="auto">
            {words}
          </p>
        ) : (
          <div class="bubble">
            <Markdown source={words} />
          </div>
        ))}
      {ui && (
        <div class="ui">
          <Component node={ui} say={say} />
        </div>
      )}
      {audio && (
        // biome-ignore lint/a11y/useMediaCaption: the text stands above it.
        <audio controls preload="none" src={audio} aria-label={translate('listen')} />
      )}
      <time dateTime={sentAt}>{timeText(when)}</time>
    </li>
  );
});

/** A message on its way. */
export function OutgoingMessage({ chat, message }: { chat: Chat; message: Outgoing }) {
  const { text: words, files, isStored, problem } = message;
  return (
    <li class={`message user ${isStored ? '' : 'waiting'}`}>
      <span class="hidden">{translate('you')}</span>
      <Files chat={chat} files={files} />
      {words !== '' && (
        <p class="bubble plain" dir="auto">
          {words}
        </p>
      )}
      {problem === undefined ? (
        !isStored && <span class="status">{translate('sending')}</span>
      ) : (
        <span class="status problem" role="alert">
          {problem}{' '}
          <button type="button" class="plainly" onClick={() => chat.again(message)}>
            {translate('again')}
          </button>
        </span>
      )}
    </li>
  );
}

/** The reply that is being written. Screen readers read it when it is whole. */
export function LiveMessage({ words }: { words: string }) {
  return (
    <li class="message assistant live" aria-hidden="true">
      <div class="bubble">
        {words === '' ? (
          <span class="dots">
            <i />
            <i />
            <i />
          </span>
        ) : (
          <Markdown source={words} />
        )}
      </div>
    </li>
  );
}

/** A call that the visitor decides. */
export function ApprovalView({ chat, approval }: { chat: Chat; approval: Approval }) {
  const [isBusy, setBusy] = useState(false);
  const decide = (decision: 'approve' | 'reject') => {
    setBusy(true);
    chat.decide(approval.id, decision).catch(() => setBusy(false));
  };
  return (
    <li class="message assistant">
      <fieldset class="card approval">
        <legend class="title">{translate('mayI')}</legend>
        <p>
          <code>{approval.toolName}</code>
        </p>
        <dl>
          {Object.entries(approval.input).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
        <div class="stack row">
          <button type="button" class="button first" disabled={isBusy} onClick={() => decide('approve')}>
            {translate('approve')}
          </button>
          <button type="button" class="button" disabled={isBusy} onClick={() => decide('reject')}>
            {translate('reject')}
          </button>
        </div>
      </fieldset>
    </li>
  );
}
