#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A C library that is loaded when it is first needed, so that `signet code` neither waits for libpng nor asks for zbar
/// (43 libraries) to be installed.
///
/// A library stays loaded for the life of the process: unloading one that others hang on is where crashes come from.
struct DynamicLibrary {
    private let handle: UnsafeMutableRawPointer
    private let name: String

    /// - Parameters:
    ///   - name: the soname, with its ABI version: the signatures we call it by belong to that version only.
    ///   - aptPackage: what to install when it is missing.
    init(_ name: String, aptPackage: String) throws(PictureError) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw .libraryMissing(name: name, aptPackage: aptPackage)
        }
        self.handle = handle
        self.name = name
    }

    /// The function of that name. `Function` must be a `@convention(c)` type with the signature of the C header: nothing
    /// can check it, except that it is as large as a pointer.
    func function<Function>(_ symbol: String, as type: Function.Type = Function.self) throws(PictureError) -> Function {
        guard MemoryLayout<Function>.size == MemoryLayout<UnsafeMutableRawPointer>.size,
            let address = dlsym(handle, symbol)
        else {
            throw .unreadable("the library \(name) has no function \(symbol); is it a very old one?")
        }
        return unsafeBitCast(address, to: type)
    }
}
