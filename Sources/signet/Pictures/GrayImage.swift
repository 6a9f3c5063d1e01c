/// A grayscale picture: one byte per pixel, from 0 (black) to 255 (white), row by row from the top, without padding.
struct GrayImage {
    /// The largest number of pixels to decode.
    ///
    /// A photograph has 12 to 40 million pixels; a decompression bomb claims a billion.
    static let maximumPixels = 40_000_000

    let width: Int
    let height: Int
    /// `width` times `height` bytes.
    let pixels: WipedMemory

    /// Creates a black picture.
    ///
    /// Throws for one that is too large, before it allocates memory.
    init(width: Int, height: Int) throws(PictureError) {
        guard width > 0, height > 0 else { throw .damaged("the picture has no pixels") }
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, count <= Self.maximumPixels else {
            throw .tooLarge("\(width) x \(height) pixels; at most \(Self.maximumPixels / 1_000_000) million are read")
        }
        self.width = width
        self.height = height
        pixels = WipedMemory(count: count)
    }

    /// Creates a picture from the values of its pixels.
    init(width: Int, height: Int, _ pixel: (_ column: Int, _ row: Int) -> UInt8) throws(PictureError) {
        try self.init(width: width, height: height)
        pixels.withBytes { target in
            for row in 0..<height {
                for column in 0..<width { target[row * width + column] = pixel(column, row) }
            }
        }
    }

    /// Returns the picture with each pixel enlarged to a square of `factor` pixels.
    func enlarged(by factor: Int) throws(PictureError) -> GrayImage {
        try pixels.withBytes { (source) throws(PictureError) in
            try GrayImage(width: width * factor, height: height * factor) { column, row in
                source[row / factor * width + column / factor]
            }
        }
    }

    /// Returns the picture at half its size, each pixel the mean of four.
    ///
    /// Width and height must be at least 2.
    func halved() throws(PictureError) -> GrayImage {
        try pixels.withBytes { (source) throws(PictureError) in
            try GrayImage(width: width / 2, height: height / 2) { column, row in
                let corner = 2 * (row * width + column)
                let sum =
                    Int(source[corner]) + Int(source[corner + 1])
                    + Int(source[corner + width]) + Int(source[corner + width + 1])
                return UInt8(sum / 4)
            }
        }
    }
}
