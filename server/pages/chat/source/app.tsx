import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Chat, View } from './chat.ts';
import { Composer } from './composer.tsx';
import { Markdown } from './markdown.tsx';
import { ApprovalView, LiveMessage, Message, OutgoingMessage } from './messages.tsx';
import { type TextKey, translate } from './texts.ts';
import type { PageConfig } from './types.ts';

/** So near to the end counts as at the end, in pixels. */
const NEAR = 80;

interface AppProps {
  config: PageConfig;
  chat: Chat;
  view: View;
  /** Closes the chat, where a page embeds it. */
  close: (() => void) | undefined;
}

/** The notice above the composer: what the visitor should know of the connection and the conversation. */
function noticeOf({ connection, state, hasNoAnswer }: View): TextKey | undefined {
  if (connection === 'offline') return 'offline';
  if (connection === 'lost') return state ? 'reconnecting' : 'unavailable';
  if (state?.isEnded) return 'ended';
  if (state?.isPaused) return 'personAsked';
  if (state && state.waitingCalls > 0 && !state.mayDecide) return 'personDecides';
  if (state?.failure === 'limit') return 'notNow';
  return hasNoAnswer || state?.failure === 'other' ? 'noAnswer' : undefined;
}

/** What a screen reader is told: a reply when it is whole, and that one is being written; never its pieces. */
function useAnnouncement({ messages, live, state }: View, title: string): string {
  const [said, setSaid] = useState('');
  const known = useRef<number | undefined>(undefined);
  const last = messages.at(-1);
  const hasOpened = state !== null;
  useEffect(() => {
    if (!hasOpened) return;
    const seq = last?.seq ?? 0;
    // What was there when the page was opened is no news.
    if (known.current !== undefined && seq > known.current && last?.role === 'assistant') {
      setSaid(translate('says', { name: title, text: last.text }));
    }
    known.current = seq;
  }, [hasOpened, last, title]);
  const isWriting = live !== null;
  useEffect(() => {
    if (isWriting) setSaid(translate('writing', { name: title }));
  }, [isWriting, title]);
  return said;
}

/** Keeps the newest message in sight, unless the reader has scrolled back. */
function useScroll(view: View) {
  const box = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const sticks = useRef(true);
  const first = useRef<number | undefined>(undefined);
  const height = useRef(0);
  const toEnd = useCallback((behavior: ScrollBehavior = 'auto') => {
    box.current?.scrollTo({ top: box.current.scrollHeight, behavior });
  }, []);
  // Whatever is shown anew may move the end.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const top = view.messages[0]?.seq;
    const isEarlierShown = first.current !== undefined && top !== undefined && top < first.current;
    if (isEarlierShown) element.scrollTop += element.scrollHeight - height.current;
    else if (sticks.current) toEnd();
    first.current = top;
    height.current = element.scrollHeight;
  }, [view, toEnd]);
  useEffect(() => {
    const onResize = () => sticks.current && toEnd();
    const observer = new ResizeObserver(onResize);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [toEnd]);
  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    sticks.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR;
    setAtEnd(sticks.current);
  };
  const stick = useCallback(() => {
    sticks.current = true;
  }, []);
  return { box, isAtEnd, onScroll, toEnd, stick };
}

function Header({ config, chat, view, close }: AppProps) {
  const { state } = view;
  const canAsk = state?.hasBegun && !state.isEnded;
  return (
    <header>
      <span class="avatar" aria-hidden="true">
        {[...config.title.trim()][0]?.toUpperCase()}
      </span>
      <h1 dir="auto">{config.title}</h1>
      {canAsk && (
        <button type="button" class="person" onClick={() => void chat.askForPerson(!state.isPaused).catch(() => {})}>
          {translate(state.isPaused ? 'backToAgent' : 'askPerson')}
        </button>
      )}
      {close && (
        <button type="button" class="icon" aria-label={translate('close')} title={translate('close')} onClick={close}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M6 6l12 12M18 6 6 18" />
          </svg>
        </button>
      )}
    </header>
  );
}

/** The whole page. */
export function App(props: AppProps) {
  const { config, chat, view, close } = props;
  const { messages, outgoing, live, state, hasMore } = view;
  const { box, isAtEnd, onScroll, toEnd, stick } = useScroll(view);
  const announcement = useAnnouncement(view, config.title);
  const notice = noticeOf(view);
  const last = messages.at(-1);
  const isWaiting = outgoing.some(({ isStored }) => isStored) && !state?.isPaused;
  const say = useCallback(
    (words: string) => {
      stick();
      chat.say(words);
    },
    [chat, stick],
  );
  // What was written is shown, wherever the reader was.
  const count = outgoing.length;
  useLayoutEffect(() => {
    if (count > 0) {
      stick();
      toEnd();
    }
  }, [count, stick, toEnd]);
  useEffect(() => {
    if (!close) return;
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && close();
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [close]);

  return (
    <>
      <Header {...props} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who uses a keyboard scrolls it. */}
      <main ref={box} onScroll={onScroll} tabIndex={0} aria-label={translate('conversation')}>
        {hasMore && (
          <button type="button" class="button earlier" onClick={() => void chat.showEarlier().catch(() => {})}>
            {translate('earlier')}
          </button>
        )}
        <ol>
          {config.welcomeMessage !== '' && !hasMore && (
            <li class="message assistant">
              <span class="hidden">{config.title}</span>
              <div class="bubble">
                <Markdown source={config.welcomeMessage} />
              </div>
            </li>
          )}
          {messages.map((message) => {
            const isNewest = message === last && outgoing.length === 0 && live === null && !state?.isEnded;
            return (
              <Message
                key={message.id}
                chat={chat}
                message={message}
                title={config.title}
                say={isNewest ? say : undefined}
              />
            );
          })}
          {outgoing.map((message) => (
            <OutgoingMessage key={message.id} chat={chat} message={message} />
          ))}
          {live ? <LiveMessage words={live.text} /> : isWaiting && <LiveMessage words="" />}
          {!live &&
            state?.approvals.map((approval) => <ApprovalView key={approval.id} chat={chat} approval={approval} />)}
        </ol>
      </main>
      <footer>
        {!isAtEnd && (
          <button
            type="button"
            class="newest"
            aria-label={translate('newest')}
            title={translate('newest')}
            onClick={() => toEnd('smooth')}
          >
            ↓
          </button>
        )}
        <p class="notice" role="status" hidden={!notice}>
          {notice && translate(notice)}
        </p>
        <Composer chat={chat} />
      </footer>
      <p class="hidden" role="log" aria-live="polite" aria-atomic="true">
        {announcement}
      </p>
    </>
  );
}
