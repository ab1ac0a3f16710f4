#!/usr/bin/env python3
"""The interface as a web page in headless Chromium and Firefox: check_page.py PAGE REDVIZ

Opens the page from file:// with links of several sorts, presses keys and the mouse, and compares its text with the frames
that the native program prints at the same size. Nothing may be requested but the page and its worker. Ends with
"N passed, N failed"; status 1 if a check fails.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "html"))
from browser import Chromium, find_axe  # noqa: E402
from firefox import Firefox  # noqa: E402

WIDTH, HEIGHT, SECONDS = 1100, 720, 60


class Page:
    def __init__(self, browser, path, native):
        self.browser, self.path, self.native = browser, path, native

    def open(self, link):
        self.browser.open(self.path, "#" + link)

    def text(self):
        text = self.browser.run("[...document.querySelectorAll('#frame > div')].map((row) => row.textContent.trimEnd()).join('\\n')")
        return text + "\n"

    def size(self):
        """Columns and rows of the frame, once there is one."""
        columns = "[...document.querySelector('#frame > div').textContent].length"
        self.await_true("document.documentElement.dataset.firstFrame !== undefined")
        return self.browser.run("[%s, document.querySelectorAll('#frame > div').length]" % columns)

    def await_true(self, expression):
        end = time.monotonic() + SECONDS
        while not self.browser.run("!!(%s)" % expression):
            assert time.monotonic() < end, "never came true: " + expression
            time.sleep(0.02)

    def shows_frame_of(self, *arguments, folder="/"):
        columns, rows = self.size()
        environment = dict(os.environ, LC_ALL="C.UTF-8", REDVIZ_SHARE=ROOT, REDVIZ_CUDA="/nowhere/libcuda.so.1",
                           XDG_CONFIG_HOME="/dev/null", XDG_STATE_HOME="/dev/null")
        wanted = subprocess.run([self.native, *arguments, "--frame=%dx%d" % (columns, rows)], env=environment, cwd=folder,
                                stdout=subprocess.PIPE, text=True).stdout
        assert wanted, "no frame of " + " ".join(arguments)
        end = time.monotonic() + SECONDS
        while self.text() != wanted:
            assert time.monotonic() < end, "the page shows\n%s\nnative shows\n%s" % (self.text(), wanted)
            time.sleep(0.05)

    def shows(self, text):
        self.await_true("document.body.innerText.includes(%r)" % text)


def the_first_frame_is_that_of_the_program(page):
    page.open("kernel=strided&n=4096")
    page.shows_frame_of("--kernel", "strided", "--n", "4096")


def keys_move(page):
    page.open("kernel=interleaved&n=1024")
    page.shows_frame_of("--kernel", "interleaved", "--n", "1024")
    page.browser.press("]")
    page.shows_frame_of("--kernel", "interleaved", "--n", "1024", "--keys", "]")
    page.browser.press("ArrowRight")
    page.shows_frame_of("--kernel", "interleaved", "--n", "1024", "--keys", "]<Right>")


def another_kernel_is_opened_beside(page):
    page.open("kernel=interleaved&n=1024&compare=sequential")
    page.shows_frame_of("--kernel", "interleaved", "--n", "1024", "--compare", "sequential")


def a_kernel_is_opened_from_the_menu(page):
    page.open("kernel=interleaved&n=1024")
    page.size()
    for key in ("K", *"reproducible", "Enter"):
        page.browser.press(key)
    page.shows("Additions that lose nothing")


def a_copy_cannot_be_edited(page):
    page.open("kernel=interleaved&n=1024")
    page.size()
    page.browser.press("e")
    page.shows("a browser compiles no CUDA C++")


def save(page, was, becomes):
    """Changes a part of what the editor shows, and saves it."""
    page.await_true("!document.getElementById('editor').hidden")
    assert page.browser.run("document.getElementById('source').value.includes(%s)" % json.dumps(was))
    page.browser.run("(() => { const source = document.getElementById('source'); source.value = source.value.replace(%s, %s); "
                     "document.getElementById('save').click(); })()" % (json.dumps(was), json.dumps(becomes)))


def rectangle(page, selector):
    """Left, top, right and bottom of an element; nothing of it is outside of the window."""
    left, top, right, bottom = page.browser.run("(() => { const r = document.querySelector(%s).getBoundingClientRect(); "
                                                "return [r.left, r.top, r.right, r.bottom]; })()" % json.dumps(selector))
    width, height = page.browser.run("[innerWidth, innerHeight]")
    assert 0 <= left < right <= width + 1 and 0 <= top < bottom <= height + 1, (selector, left, top, right, bottom)
    return left, top, right, bottom


def the_task_stands_beside_the_editor(page):
    for width, height, phone in ((1280, 800, False), (390, 844, True)):
        page.browser.look(width, height, phone=phone)
        page.open("exercise=ptx-barrier")
        page.size()
        page.browser.press("e")
        page.await_true("!document.getElementById('editor').hidden && /4 of 5 goals/.test(document.querySelector('#task h3').textContent)")
        left, top, right, bottom = rectangle(page, "#task")
        sheet = rectangle(page, "#sheet")
        assert top >= sheet[3] - 1 if phone else left >= sheet[2] - 1
        rectangle(page, "#task h3")
        for text in ("Find that race and remove it", "no race, right in every order"):
            assert page.browser.run("document.getElementById('task').innerText.includes(%r)" % text)
        assert page.browser.run("document.querySelectorAll('#task details').length") == 3
    page.browser.run("localStorage.clear()")


def the_editor_marks_a_finding_and_what_moved(page):
    marked = "[...document.querySelectorAll('#numbers .found')].map((span) => span.textContent)"
    text = "document.getElementById('source').value"
    page.open("exercise=ptx-barrier")
    page.size()
    page.browser.press("e")
    page.await_true(marked + ".length === 1")
    line = int(page.browser.run(marked)[0].strip("▶"))
    assert "shared.s32" in page.browser.run(text + ".split('\\n')[%d]" % (line - 1))
    assert page.browser.run("document.querySelectorAll('#numbers span').length === %s.split('\\n').length" % text)
    assert page.browser.run("document.querySelectorAll('#task .moved').length") == 0
    page.browser.run("(() => { const source = document.getElementById('source'); source.setRangeText('\\n\\n', 0, 0, 'end'); "
                     "source.dispatchEvent(new InputEvent('input')); })()")
    assert page.browser.run(marked) == ["▶%d" % (line + 2)]  # it moves with its line
    save(page, "    mov.u32 %s, 64;", "    bar.sync 0;\n    mov.u32 %s, 64;")
    page.await_true("/5 of 5 goals, 2 moved: solved/.test(document.querySelector('#task h3').textContent)")
    assert page.browser.run("[...document.querySelectorAll('#task .moved i')].map((was) => was.textContent.trim())") == ["was ✗", "was ✓ 14,336"]
    assert page.browser.run(marked) == []
    save(page, "mov.u32 %s, 64;", "mov.u32 %t, 64;")
    page.await_true(marked + ".length === 1")
    line = int(page.browser.run(marked)[0].strip("▶"))
    assert "%t" in page.browser.run(text + ".split('\\n')[%d]" % (line - 1))
    page.open("exercise=ptx-barrier")  # which cannot be run
    page.await_true(marked + ".length === 1")
    assert page.browser.run(marked) == ["▶%d" % line]
    page.browser.run("localStorage.clear()")


def an_exercise_is_solved(page):
    page.open("exercise=ptx-barrier")
    page.size()
    page.browser.press("e")
    save(page, "mov.u32 %s, 64;", "mov.u32 %t, 64;")
    page.shows("the register '%t' is not declared")
    save(page, "mov.u32 %t, 64;", "mov.u32 %s, 64;")
    page.shows("4 of 5 goals")
    save(page, "    mov.u32 %s, 64;", "    bar.sync 0;\n    mov.u32 %s, 64;")
    page.shows("5 of 5 goals")
    save(page, ".visible .entry", ".visibl .entry")
    page.shows("not run: ptx-barrier.ptx")
    page.browser.press("Escape")
    assert page.browser.run("document.getElementById('editor').hidden")
    page.open("exercise=ptx-barrier")  # which cannot be run: the editor opens
    save(page, ".visibl .entry", ".visible .entry")
    page.size()
    page.open("exercise")
    page.shows("[x] ptx-barrier")  # it and the file are there again after a reload
    page.open("exercise=ptx-barrier")
    page.size()
    page.browser.press("PageDown")
    page.shows("5 of 5 goals")
    page.browser.press("e")
    page.await_true("!document.getElementById('editor').hidden")
    page.browser.run("document.getElementById('anew').click()")
    page.shows("stop 1 of 6")
    page.browser.press("PageDown")
    page.shows("4 of 5 goals")
    page.browser.run("localStorage.clear()")


def a_lecture_ends_with_an_exercise(page):
    page.open("lecture=shuffles&stop=20")
    page.shows("Enter: solve this exercise")
    page.browser.press("Enter")
    page.shows("ptx-redux.ptx")
    assert page.browser.run("location.hash") == "#exercise=ptx-redux&language=en"
    page.browser.run("localStorage.clear()")
    page.open("lecture=shuffles&stop=12")
    page.shows("Enter: solve this exercise")
    page.browser.press("Enter")
    page.shows("It needs a compiler")
    page.browser.run("document.getElementById('twin').click()")
    page.await_true("location.hash === '#exercise=ptx-shuffle'")
    page.shows("PTX: registers in place of shared memory")
    page.browser.run("localStorage.clear()")


def a_lecture_asks(page):
    page.open("lecture=banks")
    page.shows_frame_of("--lecture", "banks")
    page.browser.press("PageDown")
    page.shows_frame_of("--lecture", "banks", "--keys", "<PgDn>")


def playing_goes_on_by_itself(page):
    page.open("kernel=shuffle&n=1024")
    page.size()
    before = page.text()
    page.browser.press(" ")
    page.await_true("Number(document.documentElement.dataset.frames) > 12")
    assert page.text() != before


def a_click_presses_a_hint(page):
    page.open("kernel=strided&n=1024")
    columns, rows = page.size()
    column = page.text().split("\n")[rows - 1].index("? help")
    box = page.browser.run("(() => { const r = document.querySelector('#frame > div').getBoundingClientRect(); "
                           "return [r.width, r.height]; })()")
    page.browser.click((column + 0.5) * box[0] / columns, (rows - 0.5) * box[1])
    page.shows_frame_of("--kernel", "strided", "--n", "1024", "--keys", "?")


def another_size_is_drawn(page):
    page.open("kernel=strided&n=1024")
    before = page.size()
    page.browser.look(800, 500)
    page.await_true("document.querySelectorAll('#frame > div').length !== %d" % before[1])
    page.shows_frame_of("--kernel", "strided", "--n", "1024")


def a_report_is_printed(page):
    page.open("kernel=bug_missing_sync&check")
    page.shows("insert __syncwarp()")
    page.shows("redviz has ended")


def what_a_browser_cannot_do_is_one_line(page):
    page.open("exercise=block-sum")
    page.shows("It needs a compiler: pip install 'redviz[cuda]', then redviz --exercise block-sum; or solve it in PTX")
    assert page.browser.run("document.getElementById('twin').getAttribute('href')") == "#exercise=ptx-barrier"
    page.open("exercise=argmax")
    page.shows("then redviz --exercise argmax.")
    assert page.browser.run("document.getElementById('twin')") is None
    page.open("kernel=strided&source=mine.cu")
    page.shows("a browser cannot compile CUDA C++")
    page.open("kernel=strided&backend=gpu")
    page.shows("there is no CUDA driver here")


def nothing_is_requested(page):
    page.open("kernel=strided&n=1024")
    page.size()
    others = [request for request in page.browser.requests if not request.startswith(("file:", "blob:", "data:"))]
    assert not others, "requested: %s" % others


def drop(page, name, content):
    """Drops a file onto the page, as a file manager does."""
    page.browser.run("(() => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(%s)], %s)); "
                     "document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); })()"
                     % (list(content), json.dumps(name)))


def a_dropped_file_is_opened(page):
    page.open("kernel=strided&n=1024")
    page.size()
    path = os.path.join(ROOT, "tests/tui/race_then_fault.ptx")
    drop(page, "race_then_fault.ptx", open(path, "rb").read())
    page.shows_frame_of("./race_then_fault.ptx", folder=os.path.dirname(path))
    page.browser.run("location.hash = 'n=64'")
    page.shows_frame_of("./race_then_fault.ptx", "--n", "64", folder=os.path.dirname(path))
    page.browser.run("location.hash = 'kernel=strided&n=1024'")
    page.shows_frame_of("--kernel", "strided", "--n", "1024")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.redviz")
        subprocess.run([page.native, "--kernel", "strided", "--n", "256", "--report", "--save=" + path], check=True,
                       env=dict(os.environ, REDVIZ_SHARE=ROOT), stdout=subprocess.DEVNULL)
        drop(page, "run.redviz", open(path, "rb").read())
    page.shows("a browser has no SQLite")
    drop(page, "race_then_fault.ptx", open(os.path.join(ROOT, "tests/tui/race_then_fault.ptx"), "rb").read())
    page.shows("race_then_fault")
    page.browser.press("e")
    marked = "[...document.querySelectorAll('#numbers .found')].map((span) => span.textContent)"
    page.await_true(marked + ".length === 1")  # the first problem
    save(page, ".entry", ".entri")
    page.shows("not run: race_then_fault.ptx")
    page.await_true("document.getElementById('source').value.split('\\n')[parseInt(%s[0].slice(1)) - 1].includes('.entri')" % marked)
    page.browser.run("localStorage.clear()")
    drop(page, "sum.cu", b"")
    page.shows("sum.cu: a browser opens PTX")


def a_step_is_said(page):
    page.open("kernel=strided&n=1024")
    page.size()
    first = page.browser.run("document.querySelector('[role=status]').textContent")
    page.browser.press("]")
    page.await_true("!['', %s].includes(document.querySelector('[role=status]').textContent)" % json.dumps(first))
    said = page.browser.run("document.querySelector('[role=status]').textContent")
    assert said.split(". ")[0].split(" ")[0] in page.text(), said


def without_colours_one_is_left(page):
    page.open("kernel=strided&n=1024")
    page.size()
    colours = ("new Set([...document.querySelectorAll('#frame span')].flatMap((span) => [getComputedStyle(span).color, "
               "getComputedStyle(span).backgroundColor])).size")
    assert page.browser.run(colours) > 5
    for _ in range(4):
        page.browser.press("C")
    page.await_true("document.documentElement.dataset.theme === 'mono'")
    assert page.browser.run(colours) <= 3  # text, background and none
    assert page.browser.run("[...document.querySelectorAll('#frame span')].some((s) => getComputedStyle(s).fontWeight === '700')")


def fingers_have_keys(page):
    page.open("kernel=strided&n=1024")
    page.size()
    assert page.browser.run("getComputedStyle(document.getElementById('keys')).display") == "none"
    page.browser.look(390, 844, phone=True)
    page.open("kernel=strided&n=1024")
    page.shows_frame_of("--kernel", "strided", "--n", "1024")
    assert page.size()[0] >= 60  # the fewest that redviz needs
    assert page.browser.run("document.getElementById('keys').getBoundingClientRect().bottom <= innerHeight && "
                            "document.querySelector('#frame > div:last-child').getBoundingClientRect().bottom <= "
                            "document.getElementById('keys').getBoundingClientRect().top")
    page.browser.tap("#keys button[data-key=']']")
    page.shows_frame_of("--kernel", "strided", "--n", "1024", "--keys", "]")


def fingers_answer_and_type(page):
    page.browser.look(390, 844, phone=True)
    page.open("lecture=banks&stop=2")
    page.size()
    page.browser.tap("#keys button[data-key=PageDown]")
    page.shows_frame_of("--lecture", "banks", "--stop", "3")
    page.browser.tap("#digit")
    page.size()
    for digit in "165":
        page.browser.tap("#digits button[data-key='%s']" % digit)
    page.browser.tap("#digits button[data-key=Backspace]")
    page.browser.tap("#keys button[data-key=Enter]")
    page.shows_frame_of("--lecture", "banks", "--stop", "3", "--keys", "16<Enter>")
    page.open("kernel=strided&n=1024")
    page.size()
    page.browser.tap("#letter")
    assert page.browser.run("document.activeElement.id") == "typed"
    for text in ("K", "lab", "_bax"):  # as a phone's keyboard edits the input
        page.browser.run("(() => { const typed = document.getElementById('typed'); typed.value += %s; "
                         "typed.dispatchEvent(new InputEvent('input')); })()" % json.dumps(text))
    page.browser.run("(() => { const typed = document.getElementById('typed'); typed.value = ''; "
                     "typed.dispatchEvent(new InputEvent('input')); })()")
    page.shows_frame_of("--kernel", "strided", "--n", "1024", "--keys", "Klab_ba")


def choose(page, path):
    page.browser.run("(() => { const data = new DataTransfer(); data.items.add(new File([new Uint8Array(%s)], 'race_then_fault.ptx')); "
                     "const file = document.getElementById('file'); file.files = data.files; "
                     "file.dispatchEvent(new Event('change')); })()" % list(open(path, "rb").read()))


def fingers_choose_a_file(page):
    path = os.path.join(ROOT, "tests/tui/race_then_fault.ptx")
    page.open("kernel=strided&n=1024")
    page.size()
    choose(page, path)
    page.shows_frame_of("./race_then_fault.ptx", folder=os.path.dirname(path))


def fingers(page, *selectors):
    """Taps each element; it must be there, and large enough for a finger."""
    for selector in selectors:
        page.await_true("(document.querySelector(%s) || document.head).getClientRects().length" % json.dumps(selector))
        width, height = page.browser.run("(() => { const r = document.querySelector(%s).getBoundingClientRect(); "
                                         "return [r.width, r.height]; })()" % json.dumps(selector))
        assert width >= 40 and height >= 40, (selector, width, height)
        page.browser.tap(selector)


def the_page_speaks_chinese(page):
    page.open("language=zh")
    page.shows("从这里开始")
    page.shows("共享内存的 bank")  # a lecture
    page.shows("PTX：缺了一个 barrier")
    page.shows("每个元素一次原子操作")  # a kernel
    english = page.browser.run("[...document.querySelectorAll('#front *')].filter((one) => !one.children.length && one.lang !== 'en' && "
                               "/[A-Za-z]{3}/.test(one.textContent) && !/[\\u4e00-\\u9fff]/.test(one.textContent)).map((one) => one.textContent)")
    names = page.browser.run("JSON.parse(document.getElementById('lists').textContent).kernels.map((one) => one.name)")
    assert set(english) <= set(names) | {"if (lane % 2 == 0)", "bank", "lane", "shuffle", "kernel"}, english
    links = page.browser.run("[...document.querySelectorAll('#front li a, .starts a')].map((link) => link.hash)")
    assert links and all(link.endswith("&language=zh") for link in links), links
    page.browser.run("document.querySelector(\"#front a[href='#exercise=ptx-barrier&language=zh']\").click()")
    page.size()
    page.browser.press("e")
    page.await_true("/已达到 4 个目标，共 5 个/.test(document.querySelector('#task h3').textContent)")
    assert page.browser.run("document.getElementById('save').textContent.startsWith('保存并运行')")
    page.browser.run("document.getElementById('close').click(); document.getElementById('home').click()")
    page.shows("从这里开始")
    page.browser.run("document.getElementById('language').click()")
    page.shows("Start here")
    assert page.browser.run("document.getElementById('save').textContent.startsWith('Save and run')")
    page.browser.run("localStorage.clear()")


def each_word_of_the_page_has_both_languages(page):
    page.open("")
    table = set(page.browser.run("Object.keys(redvizWords.CHINESE)"))
    said = set()
    for name in ("front.js", "editor.js", "page.js"):
        text = open(os.path.join(ROOT, "web", name), encoding="utf-8").read()
        said |= set(re.findall(r'\btr\("((?:[^"\\]|\\.)*)"', text))
    assert said and said <= table, said - table
    html = open(os.path.join(ROOT, "web/page.html"), encoding="utf-8").read()
    labels = {label for label in re.findall(r'aria-label="([^"]*)"', html) if label != "the interface of redviz"}
    words = {word.strip() for word in re.findall(r">([^<>]*[a-z]{4}[^<>]*)</?(?:button|small|pre)", html)} - {"abc"}
    assert labels | words <= table | {"Enter", "PgUp", "PgDn", "(Ctrl Enter)"}, (labels | words) - table
    unused = [word for word in table - said if word not in html]
    assert not unused, unused


def fingers_find_the_first_lecture(page):
    page.browser.look(390, 844, phone=True)
    page.open("")
    assert page.browser.run("document.querySelectorAll('#front .starts svg').length") == 3
    fingers(page, "#front .starts a[href='#lecture=warps']")
    page.shows_frame_of("--lecture", "warps")
    fingers(page, "#keys button[data-key=PageDown]")
    page.shows_frame_of("--lecture", "warps", "--keys", "<PgDn>")
    fingers(page, "#home", "#front .starts a[href='#lecture=banks']")
    page.shows_frame_of("--lecture", "banks")


def fingers_solve_the_first_exercise(page):
    page.browser.look(390, 844, phone=True)
    page.open("")
    fingers(page, "#front a[href='#exercise=ptx-barrier']")
    page.size()
    fingers(page, "#keys button[data-key=e]")
    page.await_true("!document.getElementById('editor').hidden && /4 of 5/.test(document.querySelector('#task h3').textContent)")
    page.browser.run("(() => { const source = document.getElementById('source'); source.value = source.value.replace("
                     "'    mov.u32 %s, 64;', '    bar.sync 0;\\n    mov.u32 %s, 64;'); })()")
    fingers(page, "#save")
    page.await_true("/5 of 5/.test(document.querySelector('#task h3').textContent)")
    rectangle(page, "#task .moved")
    fingers(page, "#close", "#home")
    page.await_true("document.querySelector(\"#front a[href='#exercise=ptx-barrier'] + span\")?.textContent === 'solved'")
    page.browser.run("localStorage.clear()")


def fingers_open_their_own_ptx(page):
    path = os.path.join(ROOT, "tests/tui/race_then_fault.ptx")
    page.browser.look(390, 844, phone=True)
    page.open("")
    page.browser.run("HTMLInputElement.prototype.click = function () { this.dataset.asked = 'yes'; }")
    fingers(page, "#own")
    page.await_true("document.getElementById('file').dataset.asked")
    choose(page, path)
    page.shows_frame_of("./race_then_fault.ptx", folder=os.path.dirname(path))
    fingers(page, "#home")
    page.await_true("!document.getElementById('front').hidden")


def larger_text_is_drawn(page):
    page.open("kernel=strided&n=1024")
    before = page.size()
    page.browser.run("document.head.append(Object.assign(document.createElement('style'), {textContent: 'pre {font-size: 20px !important}'}))")
    page.await_true("document.querySelectorAll('#frame > div').length < %d" % before[1])
    page.shows_frame_of("--kernel", "strided", "--n", "1024")


def axe_finds_nothing(page):
    if not find_axe():
        return "axe-core is not here"
    page.browser.look(1280, 800)
    page.open("kernel=strided&n=1024")
    page.size()
    found = page.browser.axe()
    assert not found, found
    page.open("")
    found = page.browser.axe()
    assert not found, found
    page.open("exercise=ptx-barrier")
    page.size()
    page.browser.press("e")
    page.await_true("!document.getElementById('editor').hidden")
    found = page.browser.axe()
    assert not found, found
    page.browser.run("localStorage.clear()")
    return None


CHECKS = [the_first_frame_is_that_of_the_program, keys_move, another_kernel_is_opened_beside,
          a_kernel_is_opened_from_the_menu, a_copy_cannot_be_edited, the_task_stands_beside_the_editor,
          the_editor_marks_a_finding_and_what_moved, an_exercise_is_solved, a_lecture_ends_with_an_exercise,
          a_lecture_asks, playing_goes_on_by_itself, a_click_presses_a_hint, another_size_is_drawn, a_report_is_printed,
          what_a_browser_cannot_do_is_one_line, nothing_is_requested, a_dropped_file_is_opened, a_step_is_said,
          without_colours_one_is_left, the_page_speaks_chinese, each_word_of_the_page_has_both_languages, fingers_have_keys, fingers_answer_and_type, fingers_choose_a_file,
          fingers_find_the_first_lecture, fingers_solve_the_first_exercise, fingers_open_their_own_ptx, larger_text_is_drawn,
          axe_finds_nothing]


def check_in(kind, path, native):
    """Runs all checks in a browser; returns whether they passed."""
    browser = kind()
    passed = failed = 0
    skipped = []
    for check in CHECKS:
        browser.look(WIDTH, HEIGHT)
        try:
            without = check(Page(browser, path, native))
            assert not browser.complaints, browser.complaints
            passed += not without
            skipped += ["  skipped  %s: %s" % (check.__name__, without)] if without else []
        except AssertionError as error:
            failed += 1
            print("  FAILED   %s, %s: %s" % (kind.NAME, check.__name__, str(error)[:6000]))
    browser.close()
    for line in skipped:
        print(line)
    print("web, %s: %d passed, %d failed" % (kind.NAME, passed, failed) + (", %d skipped" % len(skipped) if skipped else ""), flush=True)
    return passed and not failed


def main():
    path, native = (os.path.abspath(name) for name in sys.argv[1:])
    right = check_in(Chromium, path, native)
    if Firefox.find():
        right = check_in(Firefox, path, native) and right
    else:
        print("  skipped  not checked in Firefox: not installed")
    return 0 if right else 1


sys.exit(main())
