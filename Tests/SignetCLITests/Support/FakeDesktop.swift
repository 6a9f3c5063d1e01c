import Foundation
import SignetTesting
import TestSupport
import Testing

/// Scripts in a private directory in the place of the programs of a desktop, which are the only programs that `signet` finds.
struct FakeDesktop {
    /// The directory of the scripts, of the clipboard's content and of the log of calls.
    let directory: String

    init(at cli: CommandLineFixture) throws {
        directory = cli.directory.file("desktop")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    /// A clipboard with the options of wl-clipboard, xclip and xsel, which leaves a process in the background as these do.
    private static let clipboard = """
        d="${0%/*}"
        echo "${0##*/} $*" >> "$d/calls"
        case "$*" in
            *TARGETS* | *--list-types*) if [ -e "$d/picture" ]; then echo image/png; else echo UTF8_STRING; fi ;;
            *image/png*) exec /bin/cat "$d/picture" ;;
            *-out* | *--output* | *--no-newline*) if [ -s "$d/text" ]; then exec /bin/cat "$d/text"; else exit 1; fi ;;
            *--clear*) : > "$d/text" ;;
            *) /bin/cat > "$d/text"; /bin/sleep 3 & ;;
        esac
        """

    /// Adds a script for /bin/sh.
    func add(_ name: String, _ script: String) throws {
        let path = "\(directory)/\(name)"
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: path))
        try #require(chmod(path, 0o700) == 0)
    }

    /// Adds programs that read and write the same clipboard.
    func addClipboard(_ names: String...) throws { for name in names { try add(name, Self.clipboard) } }

    /// Puts a picture or a text on the clipboard; the scripts for the screen use the picture too.
    func put(_ bytes: some Sequence<UInt8>, as name: String) throws {
        try Data(bytes).write(to: URL(filePath: "\(directory)/\(name)"))
    }

    /// The text on the clipboard.
    var text: String { content("text") }

    /// The names and arguments of the programs that ran.
    var calls: String { content("calls") }

    private func content(_ name: String) -> String {
        (try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)) ?? ""
    }

    /// The environment of `signet` on a desktop with these servers of windows.
    func environment(wayland: Bool = false, x11: Bool = false) -> [String: String] {
        var environment = ["PATH": directory]
        if wayland { environment["WAYLAND_DISPLAY"] = "wayland-9" }
        if x11 { environment["DISPLAY"] = ":9" }
        return environment
    }
}
