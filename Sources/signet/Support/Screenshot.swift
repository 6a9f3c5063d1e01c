import Foundation
import SignetCore

/// Takes a picture of the whole screen with a program of the desktop.
enum Screenshot {
    /// A program that can take a picture.
    enum Program: String, CaseIterable, Sendable {
        /// For Wayland compositors with wlr-screencopy, such as Sway.
        case grim
        /// ImageMagick, for X11.
        case imageMagick = "import"
        /// For X11. It writes files only.
        case scrot

        /// The arguments with which the program writes a PNG file to standard output; nil when it cannot.
        var arguments: [String]? {
            switch self {
            case .grim: ["-t", "png", "-"]
            case .imageMagick: ["-silent", "-window", "root", "png:-"]
            case .scrot: nil
            }
        }

        /// Returns the programs for this desktop that are installed, the best first.
        static func available(in environment: [String: String]) -> [Program] {
            allCases.filter { program in
                let display = environment[program == .grim ? "WAYLAND_DISPLAY" : "DISPLAY"] ?? ""
                return !display.isEmpty && DesktopProgram.path(of: program.rawValue, in: environment) != nil
            }
        }
    }

    /// Takes a picture.
    ///
    /// The picture goes through a pipe. Only scrot needs a file: it is in a directory that only its owner can open, in memory if
    /// the system has such a place, and removed in each case but a kill.
    /// - Returns: The picture, with the QR codes of everything that the screen shows.
    /// - Throws: ``Failure`` when no program is installed, or each of them fails; `CancellationError` after a signal;
    ///   ``PictureError`` for a picture that cannot be read.
    static func take() throws -> GrayImage {
        let environment = ProcessInfo.processInfo.environment
        let programs = Program.available(in: environment)
        guard !programs.isEmpty else {
            throw Failure(
                .unavailable, "screen",
                "no program here takes a picture of the screen: install grim for Wayland, or ImageMagick or scrot for X11; or save"
                    + " a picture yourself, and give its file to 'signet enroll'")
        }
        var reasons: [String] = []
        for program in programs {
            guard let path = DesktopProgram.path(of: program.rawValue, in: environment) else { continue }
            if let arguments = program.arguments {
                let outcome = try DesktopProgram.run(path, arguments, outputLimit: PictureReader.maximumBytes)
                if outcome.status == 0 { return try PictureReader.read(outcome.output) }
                reasons.append("\(program.rawValue) ended with \(outcome.status)")
            } else {
                if let image = try pictureInFile(of: path, environment) { return image }
                reasons.append("\(program.rawValue) took none")
            }
        }
        throw Failure(
            .unavailable, "screen",
            "the screen gives no picture to \(reasons.joined(separator: ", ")): save a picture yourself, and give its file to"
                + " 'signet enroll'")
    }

    /// Runs a program that writes the picture to the file in its argument; returns nil when it fails.
    private static func pictureInFile(of path: String, _ environment: [String: String]) throws -> GrayImage? {
        let runtime = environment["XDG_RUNTIME_DIR"] ?? ""
        let parent =
            runtime.hasPrefix("/") && FileManager.default.isWritableFile(atPath: runtime)
            ? runtime : FileManager.default.temporaryDirectory.path(percentEncoded: false)
        let picture: Result<GrayImage?, Failure>? = Interrupt.catchingSignals { isAskedToEnd in
            let result: Result<GrayImage?, Failure> = Result { () throws(Failure) in
                let folder = try TemporaryFolder("signet-screen", in: parent)
                defer { try? folder.remove() }
                let file = folder.path + "/screen.png"
                let mask = umask(0o077)
                defer { umask(mask) }
                let outcome = try DesktopProgram.run(path, [file], unless: isAskedToEnd)
                guard outcome.status == 0 else { return nil }
                do throws(PictureError) { return try PictureReader.read(path: file) } catch { throw Failure(error) }
            }
            return isAskedToEnd() ? nil : result
        }
        guard let picture else { throw CancellationError() }
        return try picture.get()
    }
}
