// The names are Apple's, and documented there.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, AllPublicDeclarationsHaveDocumentation

// The part of CoreFoundation that the Apple sources use, which Apple's Security module re-exports. Bridging makes Swift's own
// types out of its types there; here they are the same from the start, so that one source compiles on both systems.

public import Foundation

public typealias OSStatus = Int32
public typealias CFString = String
public typealias CFData = Data
public typealias CFDictionary = [AnyHashable: Any]
public typealias CFTypeRef = AnyObject
public typealias CFTypeID = UInt
public typealias CFIndex = Int

public struct CFErrorDomain: Equatable, Sendable {
    let name: String
}

public let kCFErrorDomainOSStatus = CFErrorDomain(name: "NSOSStatusErrorDomain")

public final class CFError: Sendable {
    let status: OSStatus

    init(_ status: OSStatus) { self.status = status }
}

public func CFErrorGetCode(_ error: CFError) -> CFIndex { CFIndex(error.status) }
public func CFErrorGetDomain(_ error: CFError) -> CFErrorDomain { kCFErrorDomainOSStatus }
public func CFGetTypeID(_ object: CFTypeRef) -> CFTypeID { object is SecKey ? SecKeyGetTypeID() : 0 }

extension UnsafeMutablePointer<Unmanaged<CFError>?>? {
    /// Returns an error through a pointer, as a function of the framework does: the caller releases it.
    func fail(_ status: OSStatus) {
        self?.pointee = Unmanaged.passRetained(CFError(status))
    }
}
