#if os(Linux)
import Foundation
import SignetTesting
import TestSupport
import Testing

@Suite("The tpm2-tss libraries")
struct TSS2DeclarationTests {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path(percentEncoded: false)

    private static let missing: Comment = "libtss2-dev or a C compiler is not installed"
    private static let hasHeaders =
        FileManager.default.fileExists(atPath: "/usr/include/tss2/tss2_esys.h") && Programs.missing(["cc"]).isEmpty

    @Test("The headers of tpm2-tss have the prototypes that Signet repeats", .enabled(if: hasHeaders, missing))
    func prototypesMatch() async throws {
        let check = """
            cc -fsyntax-only -Wall -Werror -Wno-attributes -I"$1/Sources/CTSS2/include" "$1/Tests/TSS2Declarations/prototypes.c"
            """
        let compiled = try await shell(check)
        #expect(compiled.status == 0, "\(compiled.errors)")
    }

    @Test("The headers of tpm2-tss have the sizes, offsets and values that Signet repeats", .enabled(if: hasHeaders, missing))
    func layoutMatches() async throws {
        let source = #""$1/Tests/TSS2Declarations/layout.c""#
        let build = #"cc -Wall -Werror -I"$1/Sources/CTSS2/include" \#(source) -o "$2/repeated" && "#
        let buildReal = #"cc -Wall -Werror -DREAL \#(source) -o "$2/real""#
        try await TemporaryDirectory.with { directory in
            let built = try await shell(build + buildReal, directory.path)
            #expect(built.status == 0, "\(built.errors)")
            let repeated = try await TestProcess.run(directory.file("repeated"))
            let real = try await TestProcess.run(directory.file("real"))
            #expect(repeated.output.split(separator: "\n").count > 100)
            #expect(repeated.output == real.output)
        }
    }

    private func shell(_ script: String, _ arguments: String...) async throws -> TestProcess.Outcome {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return try await TestProcess.run("sh", ["-c", script, "sh", Self.package] + arguments, environment: ["PATH": path])
    }
}
#endif
