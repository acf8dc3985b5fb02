// Shows a page in the user's browser.
#pragma once

#include "support/expected.h"

#include <filesystem>

namespace warplens::driver {

/// Returns a file for a page without a name from the user, in a private folder that stays after the program:
/// a browser reads it later.
Expected<std::filesystem::path> file_for_page();

/// Opens the page by the first of the programs in $BROWSER (separated by colons, %s stands for the page) that
/// succeeds; without that variable by xdg-open, if there is a display. The error says where the page is.
Expected<void> open_in_browser(const std::filesystem::path& page);

} // namespace warplens::driver
