import type { Decisions } from './types.ts';

/*
 * Words that decide on the calls that wait, when a message is nothing else. Left out are words that mean a decision in one language and
 * something harmless in another, where that would approve: `tak` (yes in Polish, thanks in Danish), `ya` (yes in Indonesian, already in
 * Spanish), `da` in Latin letters (yes in Romanian, there in German). The service does not know the language of a message.
 */
const APPROVE = `
approve|approved|i approve|approve it|approve all|yes|yes please|yes do it|yes go ahead|yep|yeah|yup|ok|okay|okey|k|sure|of course|go ahead|do it|please do|confirm|confirmed|agreed|i agree|all right|alright|accept|accepted
ja|jawohl|ja gerne|ja klar|jo|klar|einverstanden|genehmigt|genehmigen|ich genehmige|bestätigt|bestätige|bestätigen|in ordnung|passt|freigeben|freigegeben|mach das|gern|gerne|natürlich|ja mach das
sí|si|sí claro|claro|claro que sí|vale|de acuerdo|apruebo|aprobar|aprobado|lo apruebo|confirmo|confirmado|acepto|adelante|por supuesto|está bien|dale|sí adelante
sim|sim pode|pode|pode ser|pode sim|claro que sim|aprovo|aprovar|aprovado|aceito|com certeza|isso|tá bom|está bem|confirmado|sim claro
oui|ouais|d'accord|d accord|j'approuve|approuver|approuvé|je confirme|confirmer|confirmé|bien sûr|vas-y|vas y|allez-y|allez y|oui bien sûr
sì|va bene|certo|d'accordo|approvo|approva|approvare|approvato|confermo|confermato|accetto|procedi|sì certo
akkoord|goedgekeurd|goedkeuren|ga je gang|zeker|natuurlijk|ja hoor
godkänn|godkänt|godkend|godkendt|godkjenn|godkjent|jaha|javisst|visst|selvfølgelig|jepp|hyväksyn|hyväksy|hyväksytty|kyllä|joo
zgoda|zgadzam się|zatwierdzam|zatwierdź|potwierdzam|oczywiście|ano|souhlasím|schvaluji|schváleno|potvrzuji|áno|súhlasím|igen|jóváhagyom|rendben|evet|tamam|onaylıyorum|onayla|olur
да|одобряю|подтверждаю|согласен|согласна|хорошо|конечно|давай|погоджуюсь|підтверджую|добре|ναι|εγκρίνω|εντάξει|συμφωνώ
はい|承認|承認します|お願いします|いいです|ええ|是|是的|好|好的|可以|同意|批准|确认|確認|行|沒問題|没问题|네|예|승인|승인합니다|좋아요|확인|그래요
نعم|موافق|أوافق|حسنا|תאשר|כן|מאשר|מאשרת|בסדר|हाँ|हां|ठीक है|मंज़ूर|स्वीकार|iya|setuju|baik|boleh|oke|vâng|có|đồng ý|được|ใช่|ตกลง|อนุมัติ|ok ครับ|ok ค่ะ`;

const REJECT = `
reject|rejected|i reject|reject it|reject all|no|no thanks|no thank you|nope|nah|deny|denied|decline|declined|don't|do not|don't do it|do not do it|never|stop|cancel|abort|disapprove
nein|nein danke|nee|nö|ablehnen|abgelehnt|ich lehne ab|abbrechen|stopp|nicht machen|auf keinen fall|lieber nicht
no gracias|rechazar|rechazo|rechazado|lo rechazo|cancelar|cancela|para nada|mejor no
não|nao|não obrigado|não obrigada|rejeitar|rejeito|rejeitado|recuso|recusar|cancela|cancelar|melhor não
non|non merci|refuser|je refuse|refusé|rejeter|annuler|annule|surtout pas
no grazie|rifiuto|rifiuta|rifiutare|rifiutato|annulla|meglio di no
nee bedankt|afwijzen|afgewezen|weigeren|annuleren|liever niet|nej|nej tack|nej tak|nei|nei takk|avvisa|avslå|afvis|avvis|ei|en hyväksy|hylkää|ei kiitos
nie|nie dziękuję|odrzucam|odrzuć|anuluj|ne|zamítám|zamítnout|odmietam|nem|elutasítom|mégsem|hayır|hayir|reddediyorum|reddet|iptal|olmaz
нет|нет спасибо|отклоняю|отклонить|отмена|отказываюсь|ні|відхиляю|όχι|απορρίπτω|ακύρωση
いいえ|却下|却下します|拒否|キャンセル|だめ|やめて|いや|不|不是|不行|不同意|不可以|拒绝|拒絕|取消|不要|아니요|아니오|아니|거절|거절합니다|취소
لا|أرفض|مرفوض|إلغاء|לא|דוחה|ביטול|नहीं|अस्वीकार|रद्द करें|tidak|tolak|batal|jangan|không|từ chối|hủy|ไม่|ปฏิเสธ|ยกเลิก`;

const APPROVE_SIGNS = /[👍👌✅🆗✔☑💯]/u;
const REJECT_SIGNS = /[👎❌🚫⛔✖🛑]/u;
/** Words of politeness at the end, which change no decision. */
const PLEASE =
  /(?:^|\s)(?:please|pls|bitte|por favor|porfa|s il vous plait|svp|per favore|per piacere|alsjeblieft|graag|prosze|prosim|lutfen|пожалуйста)$/u;
/** Nobody writes more to say yes; longer messages are not looked at. */
const MAX_CHARS = 60;

/** One spelling for a word: small letters, no accents, no punctuation but between words, where it is a space. */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f\ufe0f\u200d]/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
}

const wordsOf = (list: string): ReadonlySet<string> =>
  new Set(
    list
      .split(/[|\n]/)
      .map(plain)
      .filter((word) => word !== ''),
  );
const APPROVE_WORDS = wordsOf(APPROVE);
const REJECT_WORDS = wordsOf(REJECT);

/**
 * The decision about all calls that wait, when the text is such a decision and nothing else, in one of many languages: “Ja!”, “sí 👍”. A
 * question is none, and neither is a text whose words and signs contradict each other.
 */
export function decisionIn(content: string): Decisions['all'] {
  const text = content.trim();
  if (text.length > MAX_CHARS || /[?¿？؟]/u.test(text)) return null;
  const said = plain(text);
  const word = said.replace(PLEASE, '').trim();
  const means = (words: ReadonlySet<string>, signs: RegExp) =>
    words.has(word) || words.has(said) || (said === '' && signs.test(text));
  const approves = means(APPROVE_WORDS, APPROVE_SIGNS);
  const rejects = means(REJECT_WORDS, REJECT_SIGNS);
  if (approves === rejects) return null;
  if (approves) return REJECT_SIGNS.test(text) ? null : 'approve';
  return APPROVE_SIGNS.test(text) ? null : 'reject';
}
