import Testing

@testable import signet

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite("QR code pictures")
struct PictureTests {
    private static let short = "otpauth://totp/Bänk:Jörg?secret=JBSWY3DPEHPK3PXP&issuer=Bänk"
    private static let long = "mfauth://totp/Bank:demo?secret=" + String(repeating: "JBSWY3DPEHPK3PXP", count: 55)

    // MARK: - Drawing and reading back

    @Test("A drawn QR code is read back byte for byte at any scale", arguments: [false, true], [1, 2, 3, 8])
    func readsDrawnCode(isLong: Bool, scale: Int) throws {
        let text = isLong ? Self.long : Self.short
        let file = try QRDrawing(text: text).png(scale: scale)
        #expect(try QRScanner.singleCode(in: PictureReader.read(file)) == text)
    }

    @Test("QR codes of every size are read back", arguments: [1, 14] + Array(stride(from: 26, through: 2331, by: 58)))
    func readsEverySize(length: Int) throws {
        let text = String(repeating: "aZ9/", count: length / 4 + 1).prefix(length)
        #expect(try QRScanner.singleCode(in: QRDrawing(text: String(text)).image(scale: 4)) == text)
    }

    @Test("A text too long for level M is drawn with level L, and one too long for any QR code is refused")
    func lowersCorrectionForLongText() throws {
        let longest = String(repeating: "x", count: 2953)
        #expect(try QRScanner.singleCode(in: QRDrawing(text: longest).image(scale: 4)) == longest)
        #expect(throws: PictureError.tooLarge("a text of 2954 bytes; a QR code holds at most 2953")) {
            try QRDrawing(text: longest + "x")
        }
        #expect(throws: PictureError.self) { try QRDrawing(text: "") }
    }

    @Test("A scale out of range is refused", arguments: [-1, 0, 33, Int.max])
    func refusesBadScale(scale: Int) {
        #expect(throws: PictureError.self) { try QRDrawing(text: "x").png(scale: scale) }
    }

    @Test("The drawing for the terminal contains the QR code, with and without colors", arguments: [true, false])
    func drawsCodeForTerminal(ansi: Bool) throws {
        let drawing = try QRDrawing(text: Self.short)
        let lines = drawing.terminalText(ansi: ansi).split(separator: "\n").map { line in
            ansi ? line.dropFirst("\u{1B}[38;5;16;48;5;231m".count).dropLast("\u{1B}[0m".count) : line
        }
        #expect(lines.count == (drawing.terminalColumns + 1) / 2)
        let misfits = lines.filter { $0.count != drawing.terminalColumns }
        #expect(misfits.isEmpty)
        let picture = try screenshot(of: lines.map(Array.init), inkIsDark: ansi)
        #expect(try QRScanner.singleCode(in: picture) == Self.short)
    }

    // MARK: - Appearance

    @Test("A QR code in inverted colors is read")
    func readsInvertedCode() throws {
        let image = try QRDrawing(text: Self.short).image()
        image.pixels.withBytes { pixels in
            for index in pixels.indices { pixels[index] = 255 - pixels[index] }
        }
        #expect(try QRScanner.singleCode(in: image) == Self.short)
    }

    @Test("A QR code without its quiet zone is read")
    func readsCodeWithoutQuietZone() throws {
        let image = try QRDrawing(text: Self.short).image()
        let cut = try piece(of: image, margin: 32)
        #expect(try QRScanner.singleCode(in: cut) == Self.short)
    }

    @Test("A picture with no code, two codes or the same code twice is told apart")
    func countsCodes() throws {
        let blank = try GrayImage(width: 300, height: 300)
        #expect(throws: PictureError.noCode) { try QRScanner.singleCode(in: blank) }
        #expect(try QRScanner.scan(blank).isEmpty)

        let one = try QRDrawing(text: Self.short).image(scale: 4)
        let two = try GrayImage.sideBySide(one, QRDrawing(text: "something else").image(scale: 4))
        #expect(throws: PictureError.severalCodes(2)) { try QRScanner.singleCode(in: two) }
        #expect(try Set(QRScanner.scan(two)) == [Self.short, "something else"])
        #expect(try QRScanner.singleCode(in: GrayImage.sideBySide(one, one)) == Self.short)
    }

    // MARK: - Refusals

    @Test("A PNG file truncated at any byte is reported as damaged")
    func refusesTruncatedPNG() throws {
        let file = try QRDrawing(text: Self.short).png(scale: 2)
        // The last 12 bytes are the end mark; after it nothing can be lost.
        for length in 8..<file.count - 12 {
            let error = #expect(throws: PictureError.self) { try PictureReader.read(Array(file.prefix(length))) }
            guard case .damaged = error else {
                Issue.record("cut at \(length): \(String(describing: error))")
                continue
            }
        }
    }

    @Test("A whole JPEG file is read, and one truncated at any byte is reported as damaged")
    func refusesTruncatedJPEG() throws {
        let file = try JPEGSample(of: QRDrawing(text: Self.short).image(scale: 3)).bytes
        #expect(try QRScanner.singleCode(in: PictureReader.read(file)) == Self.short)
        for length in 3..<file.count {
            let error = #expect(throws: PictureError.self) { try PictureReader.read(Array(file.prefix(length))) }
            guard case .damaged = error else {
                Issue.record("cut at \(length): \(String(describing: error))")
                continue
            }
        }
    }

    @Test(
        "A file that is neither PNG nor JPEG is refused with that reason",
        arguments: ["", "P", "otpauth://totp/x?secret=A", "GIF89a"])
    func refusesUnknownFormat(content: String) {
        #expect(throws: PictureError.unknownFormat) { try PictureReader.read(Array(content.utf8)) }
    }

    @Test("A header that claims 900 million pixels is refused before memory is allocated")
    func refusesPixelBomb() throws {
        var file = try QRDrawing(text: Self.short).png()
        // The IHDR chunk with 30000 x 30000 pixels, 8 bits gray, and its checksum.
        let header: [UInt8] = [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30, 8, 0, 0, 0, 0, 0x43, 0x4C, 0xA7, 0x66]
        file.replaceSubrange(16..<33, with: header)
        #expect(throws: PictureError.tooLarge("30000 x 30000 pixels; at most 40 million are read")) {
            try PictureReader.read(file)
        }
    }

    @Test("A directory, a device, a pipe without a writer, a missing file and a name with NUL are refused")
    func refusesUnreadablePath() throws {
        try inTemporaryFolder { folder in
            let pipe = folder + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            #expect(throws: PictureError.notThere) { try PictureReader.read(path: folder + "/none") }
            for path in [folder, "/dev/null", pipe, folder + "\0.png"] {
                let error = #expect(throws: PictureError.self) { try PictureReader.read(path: path) }
                guard case .unreadable = error else {
                    Issue.record("\(path): \(String(describing: error))")
                    continue
                }
            }
        }
    }

    @Test("A picture of 50 MB is refused by its size, and a valid one is read whatever its name")
    func limitsPictureSize() throws {
        try inTemporaryFolder { folder in
            let large = folder + "/large.png"
            let descriptor = open(large, O_CREAT | O_WRONLY, 0o600)
            #expect(ftruncate(descriptor, 50_000_000) == 0)
            close(descriptor)
            #expect(throws: PictureError.tooLarge("50000000 bytes; at most 10 million are read")) {
                try PictureReader.read(path: large)
            }

            let good = folder + "/note.txt"
            let file = try QRDrawing(text: Self.short).png()
            let target = open(good, O_CREAT | O_WRONLY, 0o600)
            #expect(write(target, file, file.count) == file.count)
            close(target)
            #expect(try QRScanner.singleCode(in: PictureReader.read(path: good)) == Self.short)
        }
    }

    @Test("A missing image library is named with the package to install")
    func namesMissingLibrary() {
        let error = #expect(throws: PictureError.self) { try DynamicLibrary("libnone.so.9", aptPackage: "libnone9") }
        #expect(error == .libraryMissing(name: "libnone.so.9", aptPackage: "libnone9"))
        #expect(error?.description.contains("apt-get install libnone9") == true)
    }

    // MARK: - Helpers

    private func piece(of image: GrayImage, margin: Int) throws -> GrayImage {
        let result = try GrayImage(width: image.width - 2 * margin, height: image.height - 2 * margin)
        image.pixels.withBytes { source in
            result.pixels.withBytes { pixels in
                for row in 0..<result.height {
                    for column in 0..<result.width {
                        pixels[row * result.width + column] = source[(row + margin) * image.width + column + margin]
                    }
                }
            }
        }
        return result
    }

    /// The pixels that a terminal shows: four for each half block, dark where there is ink, or light.
    private func screenshot(of lines: [[Character]], inkIsDark: Bool) throws -> GrayImage {
        let image = try GrayImage(width: 4 * (lines.first?.count ?? 0), height: 8 * lines.count)
        image.pixels.withBytes { pixels in
            for index in pixels.indices {
                let (row, column) = (index / image.width, index % image.width)
                let block = lines[row / 8][column / 4]
                let hasInk = block == "█" || block == (row % 8 < 4 ? "▀" : "▄")
                pixels[index] = hasInk == inkIsDark ? 0 : 255
            }
        }
        return image
    }

    private func inTemporaryFolder(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/signet-pictures-XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&template))
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer {
            for name in ["/pipe", "/large.png", "/note.txt"] { unlink(folder + name) }
            rmdir(folder)
        }
        try body(folder)
    }
}

/// A gray JPEG file, made by the library under test, because TurboJPEG is the simplest source of one here.
struct JPEGSample {
    private typealias Compress =
        @convention(c) (
            UnsafeMutableRawPointer, UnsafeRawPointer?, CInt, CInt, CInt, CInt,
            UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<CUnsignedLong>, CInt, CInt, CInt
        ) -> CInt

    let bytes: [UInt8]

    init(of image: GrayImage) throws {
        let library = try DynamicLibrary("libturbojpeg.so.0", aptPackage: "libturbojpeg0")
        let create: @convention(c) () -> UnsafeMutableRawPointer? = try library.function("tjInitCompress")
        let destroy: @convention(c) (UnsafeMutableRawPointer) -> CInt = try library.function("tjDestroy")
        let release: @convention(c) (UnsafeMutablePointer<UInt8>?) -> Void = try library.function("tjFree")
        let compress: Compress = try library.function("tjCompress2")

        let encoder = try #require(create())
        defer { _ = destroy(encoder) }
        var file: UnsafeMutablePointer<UInt8>?
        var size: CUnsignedLong = 0
        let (width, height) = (CInt(image.width), CInt(image.height))
        // 6 is TJPF_GRAY, 3 is TJSAMP_GRAY, 85 the quality.
        let result = image.pixels.withBytes {
            compress(encoder, $0.baseAddress, width, 0, height, 6, &file, &size, 3, 85, 0)
        }
        defer { release(file) }
        #expect(result == 0)
        bytes = Array(UnsafeBufferPointer(start: file, count: Int(size)))
    }
}
