import Foundation
import SignetTesting
import TestSupport

extension CommandLineFixture {
    /// Writes a program for `--confirm-with` that adds the question to the file `questions`.
    /// - Parameter allows: False for a program that allows no use.
    /// - Returns: The path of the program.
    /// - Throws: The error of the file system.
    func confirmationProgram(allows: Bool = true) throws -> String {
        let script = "#!/bin/sh\nprintf '%s\\n' \"$1\" >> '\(directory.file("questions"))'\nexit \(allows ? 0 : 1)\n"
        return try write(script.utf8, to: "ask", mode: 0o700)
    }

    /// The lines of the questions that the program was asked so far.
    var questionLines: [String] {
        let text = try? String(contentsOfFile: directory.file("questions"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").map(String.init)
    }
}
