"""Lists the fonts for matplotlib once, which otherwise takes seconds at the first import in every sandbox.

The fonts that stand in for missing characters have one weight. They are listed as bold ones too: matplotlib would complain
about each at every bold title, in whatever script it is.
"""

import dataclasses

from matplotlib import font_manager, get_cachedir

STAND_INS = ("WenQuanYi Micro Hei", "Noto Emoji")

fonts = font_manager.fontManager
regular = [font for font in fonts.ttflist if font.name in STAND_INS]
assert sorted(font.name for font in regular) == sorted(STAND_INS)
fonts.ttflist += [dataclasses.replace(font, weight=700) for font in regular]
font_manager.json_dump(fonts, f"{get_cachedir()}/fontlist-v{fonts.__version__}.json")
