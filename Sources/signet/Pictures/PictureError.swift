/// Why a picture, or the code in it, cannot be used.
///
/// The text of a QR code is a secret (it enrols an account), so no case carries any of it.
enum PictureError: Error, Equatable, CustomStringConvertible {
    /// There is no such file.
    case notThere
    /// The system does not let it be read.
    case denied
    /// The file, or what the code holds, cannot be read. The reason is a phrase for the user.
    case unreadable(String)
    /// More than we are ready to hold. The phrase names the size and the limit.
    case tooLarge(String)
    /// Neither PNG nor JPEG by its first bytes, whatever its name says.
    case unknownFormat
    /// Begins as a PNG or JPEG picture and does not go on as one. The detail is the decoder's.
    case damaged(String)
    /// A good picture without a QR code.
    case noCode
    /// More than one QR code, and nothing says which is meant.
    case severalCodes(Int)
    /// A library that is loaded only when it is needed is not on this machine, or cannot be loaded.
    case libraryMissing(name: String, aptPackage: String)

    var description: String {
        switch self {
        case .notThere: "there is no such picture"
        case .denied: "the system does not allow the picture to be read"
        case .unreadable(let reason): "the picture cannot be read: \(reason)"
        case .tooLarge(let size): "too large: \(size)"
        case .unknownFormat: "this is neither a PNG nor a JPEG picture"
        case .damaged(let detail): "the picture is damaged or cut short: \(detail)"
        case .noCode: "there is no QR code in the picture"
        case .severalCodes(let count): "there are \(count) different QR codes in the picture; cut out the one you mean"
        case .libraryMissing(let name, let package):
            "needs the library \(name), which is not here; install it, e.g. with: apt-get install \(package)"
        }
    }
}
