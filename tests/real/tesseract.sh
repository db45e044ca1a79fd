#!/usr/bin/env bash
# Tesseract reads pages of generated text.
# shellcheck source-path=SCRIPTDIR source=common.bash
. "$(dirname "$0")/common.bash"

font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf

check() {
    need tesseract "tesseract-ocr tesseract-ocr-eng" && need_module PIL python3-pil || return
    tesseract --list-langs 2>/dev/null | grep -qx eng || {
        echo "tesseract has no English data (apt-get install tesseract-ocr-eng)"
        return 77
    }
    [[ -f $font ]] || {
        echo "$font is missing (apt-get install fonts-dejavu-core)"
        return 77
    }
}

prepare() {
    "$python" - "$1" "$(times 3)" "$font" <<'PYTHON'
import random, sys
from PIL import Image, ImageDraw, ImageFont
random.seed(1)
words = "memory allocator page fragment release thread cache model request buffer weight token".split()
font = ImageFont.truetype(sys.argv[3], 30)
names = []
for number in range(int(sys.argv[2])):
    page = Image.new("L", (1240, 1754), 255)
    draw = ImageDraw.Draw(page)
    for line in range(38):
        draw.text((60, 50 + line * 43), " ".join(random.choices(words, k=8)), font=font, fill=0)
    names.append("%s/page%02d.png" % (sys.argv[1], number))
    page.save(names[-1])
open(sys.argv[1] + "/pages.txt", "w").write("\n".join(names) + "\n")
PYTHON
}

run() {
    export OMP_THREAD_LIMIT=1
    exec tesseract "$1/pages.txt" stdout --psm 6
}

main "$@"
