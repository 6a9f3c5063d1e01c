/// Reads a picture from a file or from bytes.
///
/// The first bytes determine the format; the name doesn't matter.
enum PictureReader {
    /// The maximum size of a picture file in bytes.
    ///
    /// It is enough for any screenshot and photograph.
    static let maximumBytes = 10_000_000

    /// Reads the file at `path`.
    static func read(path: String) throws(PictureError) -> GrayImage {
        try decode(PictureFile.contents(of: path))
    }

    /// Reads a picture from memory, for example from standard input.
    static func read(_ bytes: [UInt8]) throws(PictureError) -> GrayImage {
        try checkSize(bytes.count)
        return try decode(WipedMemory(bytes))
    }

    /// Throws `.tooLarge` for a file of more than ``maximumBytes``.
    static func checkSize(_ byteCount: Int) throws(PictureError) {
        guard byteCount > maximumBytes else { return }
        throw .tooLarge("\(byteCount) bytes; at most \(maximumBytes / 1_000_000) million are read")
    }

    private static func decode(_ file: WipedMemory) throws(PictureError) -> GrayImage {
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]
        return try file.withBytes { (bytes) throws(PictureError) in
            if bytes.starts(with: png) { return try PNGCodec.decode(UnsafeRawBufferPointer(bytes)) }
            if bytes.starts(with: jpeg) { return try JPEGDecoder.decode(UnsafeRawBufferPointer(bytes)) }
            throw .unknownFormat
        }
    }
}
