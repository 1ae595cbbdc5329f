import { createTestDatabase, type TestDatabase } from '../../support/db/database.ts';
import { type Shelf, shelfOf } from './searchSetting.ts';

let setting: TestDatabase;
let shelf: Shelf;

beforeAll(async () => {
  setting = await createTestDatabase();
  shelf = shelfOf(await setting.seedWorkspace());
});
afterAll(() => setting.drop());

/** In each language three passages; the question is to find the first. */
const LANGUAGES: Record<string, { passages: [string, string, string]; questions: string[] }> = {
  English: {
    passages: [
      'You can return any item within thirty days of delivery. The refund arrives within a week.',
      'Our shop is open from Monday to Saturday, between nine and six.',
      'Delivery takes three working days and is free for orders above fifty euros.',
    ],
    questions: ['How do I return an item?', 'what about refunds', 'RETURNING ITEMS', 'retrun an itme'],
  },
  Portuguese: {
    passages: [
      'A devolução de produtos é gratuita até trinta dias após a entrega.',
      'A loja abre às nove horas e fecha às dezoito horas.',
      'O prazo de entrega é de três dias úteis.',
    ],
    questions: ['Como faço uma devolução?', 'devolucao gratuita', 'quero saber das devoluções', 'DEVOLUÇÃO'],
  },
  German: {
    passages: [
      'Die Rückgabefrist für alle Häuser und Straßen beträgt dreißig Tage.',
      'Unsere Öffnungszeiten sind von neun bis achtzehn Uhr.',
      'Der Versand dauert drei Werktage.',
    ],
    questions: ['Rückgabefrist', 'ruckgabefrist haus', 'Wie ist die Rückgabe?', 'STRASSEN'],
  },
  Chinese: {
    passages: [
      '我们的退货政策：收到商品后三十天内可以退货退款。',
      '商店营业时间为上午九点到下午六点。',
      '配送需要三个工作日。',
    ],
    questions: ['退货政策是什么？', '怎么退款', '退货'],
  },
  Japanese: {
    passages: [
      '商品の返品は到着後三十日以内にお願いします。',
      '営業時間は午前九時から午後六時までです。',
      '配送には三営業日かかります。',
    ],
    questions: ['返品したいのですが', '返品は何日以内ですか', 'ﾍﾝﾋﾟﾝ 返品'],
  },
  Thai: {
    passages: ['ลูกค้าสามารถคืนสินค้าได้ภายในสามสิบวัน', 'ร้านเปิดเวลาเก้าโมงเช้าถึงหกโมงเย็น', 'การจัดส่งใช้เวลาสามวันทำการ'],
    questions: ['คืนสินค้าได้ไหม', 'สินค้า'],
  },
  Korean: {
    passages: [
      '반품은 배송 후 삼십 일 이내에 가능합니다.',
      '영업 시간은 오전 아홉 시부터입니다.',
      '택배는 사흘 걸립니다.',
    ],
    questions: ['반품 가능한가요?', '반품을 하고 싶어요'],
  },
  Arabic: {
    passages: [
      'يمكنك إرجاع المنتجات خلال ثلاثين يومًا من الاستلام.',
      'المتجر مفتوح من التاسعة صباحًا.',
      'يستغرق الشحن ثلاثة أيام عمل.',
    ],
    questions: ['كيف يمكن ارجاع المنتجات؟', 'منتجات', 'الْمُنْتَجَات'],
  },
  Hebrew: {
    passages: ['ניתן להחזיר מוצרים תוך שלושים יום.', 'החנות פתוחה מתשע בבוקר.', 'המשלוח אורך שלושה ימי עסקים.'],
    questions: ['איך להחזיר מוצרים', 'מוֹצָרִים'],
  },
  Russian: {
    passages: [
      'Возврат товара возможен в течение тридцати дней, ёлки не возвращаются.',
      'Магазин открыт с девяти утра.',
      'Доставка занимает три рабочих дня.',
    ],
    questions: ['Как оформить возврат?', 'условия возврата товаров', 'елки', 'ВОЗВРАТ'],
  },
  Greek: {
    passages: [
      'Η επιστροφή προϊόντων γίνεται εντός τριάντα ημερών.',
      'Το κατάστημα ανοίγει στις εννέα.',
      'Η αποστολή διαρκεί τρεις μέρες.',
    ],
    questions: ['επιστροφη', 'ΕΠΙΣΤΡΟΦΗ ΠΡΟΪΌΝΤΩΝ'],
  },
  Hindi: {
    passages: ['आप तीस दिनों के भीतर उत्पाद वापस कर सकते हैं।', 'दुकान सुबह नौ बजे खुलती है।', 'डिलीवरी में समय लगता है।'],
    questions: ['उत्पाद वापस कैसे करें'],
  },
};

describe.each(Object.entries(LANGUAGES))('in %s', (_language, { passages, questions }) => {
  let source: string;
  beforeAll(async () => {
    // All languages share a workspace, as they do where customers come from everywhere.
    source = await shelf.add(passages);
  });
  test.each(questions)('the passage is found first: %s', async (question) => {
    expect((await shelf.find(question, [source]))[0]).toBe(passages[0]);
  });
});
